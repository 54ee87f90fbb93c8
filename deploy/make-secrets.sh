#!/bin/sh
# Makes the secrets of docker-compose.yml: random passwords, a token, a key, and a CA with a certificate for OpenLDAP. What
# exists is left alone; remove a file to get a new one.
#
#   deploy/make-secrets.sh [FOLDER]      the folder is deploy/secrets otherwise
#
# A file secret is a bind mount that keeps owner and mode, and the containers do not run as you. So the files can be read
# by everybody, and the folder that holds them by nobody but you.
set -eu

folder=${1:-$(dirname "$0")/secrets}
mkdir -p "$folder"
chmod 700 "$folder"
cd "$folder"
umask 022

for name in postgres-password store-password service-store-password redis-password ldap-password directory-token admin-token; do
  [ -s "$name" ] || openssl rand -hex 24 | tr -d '\n' >"$name"
done

# What the service encrypts credentials with. Keep a copy: without it nobody reads them again.
[ -s service-keys ] || printf 'k1 %s\n' "$(openssl rand -base64 32)" >service-keys

if [ ! -s ldap-ca.pem ] || [ ! -s ldap-cert.pem ] || [ ! -s ldap-key.pem ]; then
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  # The name by which the containers know the server, and the one by which its health check does.
  printf 'subjectAltName = DNS:openldap, DNS:localhost\n' >"$scratch/names"
  # The CA's own key is thrown away with the scratch folder: it signs this one certificate.
  openssl req -x509 -newkey rsa:2048 -nodes -days 3650 -subj '/CN=dirsyncd sample CA' \
    -keyout "$scratch/ca-key.pem" -out ldap-ca.pem 2>/dev/null
  openssl req -newkey rsa:2048 -nodes -subj '/CN=openldap' \
    -keyout ldap-key.pem -out "$scratch/request.pem" 2>/dev/null
  openssl x509 -req -days 3650 -in "$scratch/request.pem" -extfile "$scratch/names" \
    -CA ldap-ca.pem -CAkey "$scratch/ca-key.pem" -CAcreateserial -CAserial "$scratch/serial" \
    -out ldap-cert.pem 2>/dev/null
fi
chmod 644 ./*
