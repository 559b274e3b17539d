# The service, from the wheel, as a user of its own. It needs a Neo4j beside it: docker-compose.yml.
#
#   docker build --tag fabula .
FROM python:3.13-slim AS build
COPY . /project
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels /project

FROM python:3.13-slim
RUN useradd --create-home --uid 10001 fabula
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir "$(ls /wheels/fabula-*.whl)[serve,otel]" && rm -r /wheels
USER fabula
WORKDIR /home/fabula
# Threads with memory of their own keep it for good: two arenas take a fifth less.
ENV MALLOC_ARENA_MAX=2
# Uploads and the response cache: mount a volume here.
ENV FABULA_SERVE__UPLOADS=/home/fabula/data/uploads \
    FABULA_CACHE_FOLDER=/home/fabula/data/cache \
    FABULA_SERVE__HOST=0.0.0.0 \
    FABULA_SERVE__LOG=json
RUN mkdir -p /home/fabula/data
EXPOSE 8040
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s \
  CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8040/livez', timeout=4)"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["fabula"]
CMD ["serve"]
