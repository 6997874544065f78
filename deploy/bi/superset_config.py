"""Settings of the Superset that `make bi` starts: one user, this machine, this run. Not for a server that stays."""

import os

SECRET_KEY = os.environ["SUPERSET_SECRET_KEY"]
SQLALCHEMY_DATABASE_URI = f"sqlite:///{os.environ['SUPERSET_HOME']}/superset.db?check_same_thread=false"
TALISMAN_ENABLED = False
WTF_CSRF_ENABLED = False  # the test speaks REST with a token, and nobody else reaches it
RATELIMIT_ENABLED = False
PREVENT_UNSAFE_DB_CONNECTIONS = False
CACHE_CONFIG = {"CACHE_TYPE": "NullCache"}
DATA_CACHE_CONFIG = CACHE_CONFIG
