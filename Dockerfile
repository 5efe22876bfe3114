# posepipe on a CPU: docker build -t posepipe . && docker run --rm -v "$PWD:/data" posepipe run walk.mcap --out results.jsonl
FROM python:3.12-slim

RUN apt-get update \
    && apt-get install -y --no-install-recommends libgl1 libglib2.0-0 libxcb1 libgomp1 \
    && rm -rf /var/lib/apt/lists/*

COPY pyproject.toml README.md LICENSE NOTICE /src/
COPY posepipe /src/posepipe
COPY synth /src/synth
COPY apps /src/apps
COPY models /src/models
RUN pip install --no-cache-dir "/src[view]" && rm -rf /src

# compiled kernels are kept here: mount a volume to keep them from one container to the next
ENV NUMBA_CACHE_DIR=/cache
RUN useradd --create-home posepipe && mkdir /data /cache && chown posepipe /data /cache
USER posepipe
WORKDIR /data

# the model reads, and the command answers
HEALTHCHECK --interval=60s --timeout=20s --start-period=30s CMD posepipe info person > /dev/null || exit 1
ENTRYPOINT ["posepipe"]
CMD ["demo"]
