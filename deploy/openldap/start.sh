#!/bin/sh
# Starts the sample LDAP server in the foreground; the first time it puts the people of the LDIF file in. Outside of a
# container the folders and the address come from the environment:
#
#   SEED=deploy/openldap SECRETS=deploy/secrets DATA=/tmp/ldap RUN=/tmp/ldap LISTEN=ldaps://localhost:1636 deploy/openldap/start.sh
set -eu
PATH=$PATH:/usr/sbin

seed=${SEED:-/seed}
secrets=${SECRETS:-/run/secrets}
data=${DATA:-/var/lib/ldap}
run=${RUN:-/tmp}
listen=${LISTEN:-ldaps://0.0.0.0:1636}

sed -e "s|@DATA@|$data|" -e "s|@SECRETS@|$secrets|" -e "s|@RUN@|$run|" "$seed/slapd.conf" >"$run/slapd.conf"

# The mark comes last: a server that was stopped while it was seeded is seeded again.
if [ ! -e "$data/seeded" ]; then
  rm -rf "$data/mdb"
  mkdir "$data/mdb"
  (umask 077 && tr -d '\r\n' <"$secrets/ldap-password" >"$run/password")
  password=$(slappasswd -n -T "$run/password")
  rm "$run/password"
  printf '\ndn: cn=reader,dc=northgate,dc=example\nobjectClass: organizationalRole\nobjectClass: simpleSecurityObject\ncn: reader\nuserPassword: %s\n' "$password" |
    cat "$seed/people.ldif" - |
    slapadd -q -f "$run/slapd.conf"
  touch "$data/seeded"
fi

exec slapd -d none -f "$run/slapd.conf" -h "$listen"
