# Functions that `load`, `kill` and `smoke` share.

pids=()
bin=""

# Builds both programs optimized, beside the build of the tests.
build_release() {
    swift build --quiet -c release --scratch-path .build-load
    bin="$(swift build -c release --scratch-path .build-load --show-bin-path)"
}

# Starts PROGRAM with a DIRECTORY and more settings; sets `pid` and `url` when it is ready.
start() {
    local program="$1" directory="$2"
    shift 2
    mkdir -p "$directory"
    "$bin/$program" --data-directory "$directory" "$@" >"$directory.out" 2>"$directory.err" &
    pid=$!
    pids+=("$pid")
    for _ in $(seq 200); do
        url="$(sed -n 's/^Notes listens at \([^,]*\),.*/\1/p' "$directory.out")"
        if [ -n "$url" ] && curl -sf "$url/ready" -o "$directory.ready"; then return; fi
        kill -0 "$pid" || break
        sleep 0.05
    done
    echo "$program did not start:" >&2
    cat "$directory.out" "$directory.err" >&2
    return 1
}

# Ends what is still running.
stop_all() {
    for pid in "${pids[@]}"; do { kill -KILL "$pid" && wait "$pid"; } 2>/dev/null || true; done
}

install_wrk() {
    if command -v wrk >/dev/null; then return; fi
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends wrk >/dev/null
}

fail() {
    echo "$(basename "$0"): $1" >&2
    exit 1
}
