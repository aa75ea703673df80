# reshardctl for DynamoDB tables, files and S3: the wheel and its locked dependencies, not as root.
#
#   docker build -t reshardctl .
#   docker run --rm -e AWS_REGION -e AWS_ACCESS_KEY_ID -e AWS_SECRET_ACCESS_KEY -e AWS_SESSION_TOKEN \
#     reshardctl inspect 'kcl://orders-reader' --stream orders
#
# Journals of a fix are in /var/lib/reshardctl: mount a volume there, or give --journal s3://...
FROM python:3.13-slim-bookworm AS build
WORKDIR /src
COPY requirements/build.lock requirements/run.lock requirements/
RUN python -m venv /build \
 && /build/bin/pip install --no-cache-dir --require-hashes -r requirements/build.lock \
 && python -m venv /opt/reshardctl \
 && /opt/reshardctl/bin/pip install --no-cache-dir --require-hashes -r requirements/run.lock
COPY pyproject.toml README.md LICENSE ./
COPY docs/reshardctl.1 docs/reshardctl.1
COPY reshardctl reshardctl
RUN /build/bin/python -m hatchling build -t wheel -d /dist \
 && /opt/reshardctl/bin/pip install --no-cache-dir --no-deps /dist/*.whl \
 && /opt/reshardctl/bin/reshardctl --version

FROM python:3.13-slim-bookworm
RUN groupadd --gid 10001 reshardctl \
 && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /var/lib/reshardctl reshardctl \
 && install -d -o reshardctl -g reshardctl -m 0700 /var/lib/reshardctl
COPY --from=build /opt/reshardctl /opt/reshardctl
ENV PATH=/opt/reshardctl/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    RESHARDCTL_STATE_DIR=/var/lib/reshardctl
USER 10001:10001
WORKDIR /var/lib/reshardctl
VOLUME /var/lib/reshardctl
ENTRYPOINT ["reshardctl"]
CMD ["--help"]
