"""The pure core: values in, whole scorecards or open questions out."""
