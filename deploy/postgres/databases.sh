#!/bin/sh
# Makes the two databases and their owners when the server is set up: one of the daemon, one of the access-management
# service. The passwords are read by psql itself, and so are in no list of processes.
set -eu
export SECRETS="${SECRETS:-/run/secrets}"

psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 --username "${POSTGRES_USER:-postgres}" --dbname postgres <<'SQL'
\set password `cat "$SECRETS/store-password"`
create role dirsyncd login password :'password';
create database dirsyncd owner dirsyncd;

\set password `cat "$SECRETS/service-store-password"`
create role service login password :'password';
create database service owner service;
SQL
