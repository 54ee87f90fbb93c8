# The image runs every command of dirsyncd (docker run … dirsyncd start | worker | sync corp | check …), and those of
# access-service with --entrypoint access-service.
#
#   docker build -t dirsyncd .
#   docker run --rm --read-only --tmpfs /tmp -v dirsyncd:/var/lib/dirsyncd -v ./dirsyncd.yaml:/etc/dirsyncd/dirsyncd.yaml:ro dirsyncd check

FROM node:24.21.0-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
# Nothing that is needed here has an install script; `node` is a devDependency for machines with an older Node only. The
# workspace is the client for other projects; the program does not load it.
RUN npm ci --workspaces=false --ignore-scripts --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY src ./src
RUN npm run build

FROM node:24.21.0-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --workspaces=false --omit=dev --ignore-scripts --no-audit --no-fund

FROM node:24.21.0-slim
LABEL org.opencontainers.image.title="dirsyncd" \
      org.opencontainers.image.description="Keeps the external directories of an access-management service equal to LDAP or CSV files" \
      org.opencontainers.image.licenses="MIT"
# The data directories are all that is ever written, besides /tmp: the rest of the file system may be read-only.
RUN mkdir -p /etc/dirsyncd /var/lib/dirsyncd /etc/access-service /var/lib/access-service \
 && chown node:node /var/lib/dirsyncd /var/lib/access-service \
 && ln -s /app/dist/main.js /usr/local/bin/dirsyncd \
 && ln -s /app/dist/service/main.js /usr/local/bin/access-service
WORKDIR /app
COPY --from=dependencies /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY package.json LICENSE ./
ENV DIRSYNCD_CONFIG=/etc/dirsyncd/dirsyncd.yaml
# By number, so that a cluster can see that it is not root; 1000 is the user node.
USER 1000:1000
VOLUME ["/var/lib/dirsyncd", "/var/lib/access-service"]
EXPOSE 8080
# Of `start`, whose admin listener is on port 8080; for another command or port give another one or --no-healthcheck.
# Images in OCI's format have none: `podman build` and `buildah bud` keep it with --format=docker, and Kubernetes asks by a
# livenessProbe of its own (/healthz) and a readinessProbe (/readyz).
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8080/healthz').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
STOPSIGNAL SIGTERM
# No shell in between: signals reach the program.
ENTRYPOINT ["node", "/app/dist/main.js"]
CMD ["start"]
