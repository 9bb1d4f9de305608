# A Docker engine of its own, in a folder of its own: sourced by check.sh.
#
# engine_start FOLDER   install what is missing, start dockerd, export DOCKER_HOST and DOCKER_CONFIG
# engine_stop           stop it and take away its bridge and firewall rules
#
# An engine that is already there is never touched. Both functions return non-zero, with a reason, where an
# engine cannot run.

engine_packages="docker.io iptables debootstrap runsc"

engine_start() {
    engine_dir=$1
    [ "$(id -u)" = 0 ] || { echo "not root"; return 1; }
    if ! command -v dockerd iptables debootstrap runsc > /dev/null; then
        command -v apt-get > /dev/null || { echo "no dockerd, and no apt-get to install it with"; return 1; }
        # shellcheck disable=SC2086
        (apt-get update -qq && apt-get install -qq -y --no-install-recommends $engine_packages) \
            > "$engine_dir/apt.log" 2>&1 || { tail -n 3 "$engine_dir/apt.log"; return 1; }
    fi
    engine_forward=$(cat /proc/sys/net/ipv4/ip_forward)
    # gVisor by its ptrace platform, which needs no hardware; loopback is all the network a check needs.
    cat > "$engine_dir/daemon.json" <<JSON
{"runtimes": {"gvisor": {"path": "$(command -v runsc)", "runtimeArgs": ["--platform=ptrace", "--network=host"]}}}
JSON
    export DOCKER_HOST=unix://$engine_dir/docker.sock DOCKER_CONFIG=$engine_dir/config
    mkdir -p "$DOCKER_CONFIG/cli-plugins"
    dockerd --config-file "$engine_dir/daemon.json" --data-root "$engine_dir/data" --exec-root "$engine_dir/exec" \
        --pidfile "$engine_dir/pid" -H "$DOCKER_HOST" > "$engine_dir/dockerd.log" 2>&1 &
    engine_pid=$!
    for _ in $(seq 60); do
        if docker version > /dev/null 2>&1; then
            return 0
        fi
        kill -0 "$engine_pid" 2> /dev/null || break
        sleep 0.5
    done
    echo "dockerd does not come up: $(tail -n 1 "$engine_dir/dockerd.log")"
    return 1
}

engine_stop() {
    [ -n "${engine_pid:-}" ] || return 0
    kill "$engine_pid" 2> /dev/null || true
    wait "$engine_pid" 2> /dev/null || true
    # What dockerd leaves behind: with FORWARD=DROP later tests of networks would fail.
    ip link delete docker0 2> /dev/null || true
    iptables -P FORWARD ACCEPT 2> /dev/null || true
    for table in filter nat; do
        iptables -t $table -S 2> /dev/null | grep -e '-j DOCKER' -e docker0 | sed 's/^-A/-D/' |
            while read -r rule; do
                # shellcheck disable=SC2086
                iptables -t $table $rule 2> /dev/null || true
            done
        for chain in $(iptables -t $table -S 2> /dev/null | sed -n 's/^-N \(DOCKER.*\)/\1/p'); do
            iptables -t $table -F "$chain" 2> /dev/null || true
        done
        for chain in $(iptables -t $table -S 2> /dev/null | sed -n 's/^-N \(DOCKER.*\)/\1/p'); do
            iptables -t $table -X "$chain" 2> /dev/null || true
        done
    done
    echo "$engine_forward" > /proc/sys/net/ipv4/ip_forward
}
