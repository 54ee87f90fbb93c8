#!/bin/sh
# Starts Redis in the foreground with the password from its file, which so is in no list of processes. Outside of a
# container the folders and the port come from the environment:
#
#   CONFIG=deploy/redis SECRETS=deploy/secrets DATA=/tmp/redis RUN=/tmp/redis PORT=16379 deploy/redis/start.sh
set -eu

config=${CONFIG:-/etc/redis}
secrets=${SECRETS:-/run/secrets}
data=${DATA:-/data}
run=${RUN:-/tmp}
port=${PORT:-6379}

umask 077
{
  cat "$config/redis.conf"
  printf 'dir %s\nport %s\nrequirepass %s\n' "$data" "$port" "$(cat "$secrets/redis-password")"
} >"$run/redis.conf"

exec redis-server "$run/redis.conf"
