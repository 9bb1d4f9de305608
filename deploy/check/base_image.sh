# A stand-in for the image that the Dockerfile starts from, where no registry of images can be reached.
#
# base_image NAME FOLDER   make NAME from Debian's packages, unless the engine has it or can pull it

base_image() {
    base_name=$1 base_dir=$2
    if docker image inspect "$base_name" > /dev/null 2>&1 || timeout 60 docker pull -q "$base_name" > /dev/null 2>&1; then
        echo "base image: $base_name"
        return 0
    fi
    base_mirror=$(sed -n 's/^URIs: *\([^ ]*\).*/\1/p; s/^deb \(\[[^]]*\] \)\?\([^ ]*\).*/\2/p' \
        /etc/apt/sources.list /etc/apt/sources.list.d/* 2> /dev/null | head -n 1)
    base_suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
    debootstrap --variant=minbase --include=python3,python3-venv,python3-pip,ca-certificates \
        "$base_suite" "$base_dir/root" "$base_mirror" > "$base_dir/debootstrap.log" 2>&1 ||
        { echo "debootstrap: $(tail -n 1 "$base_dir/debootstrap.log")"; return 1; }
    ln -sf python3 "$base_dir/root/usr/bin/python"
    rm -f "$base_dir"/root/usr/lib/python3*/EXTERNALLY-MANAGED
    # How this host reaches its package indexes, so that the build does too. Only in the stand-in.
    cp /etc/ssl/certs/ca-certificates.crt "$base_dir/root/etc/ssl/certs/ca-certificates.crt"
    mkdir -p "$base_dir/root/etc/apt/sources.list.d"
    cp -r /etc/apt/sources.list.d/. "$base_dir/root/etc/apt/sources.list.d/" 2> /dev/null || true
    [ ! -e /etc/apt/sources.list ] || cp /etc/apt/sources.list "$base_dir/root/etc/apt/sources.list"
    [ ! -e /etc/pip.conf ] || cp /etc/pip.conf "$base_dir/root/etc/pip.conf"
    # As the real one does: packages that were installed do not stay in the image as archives too.
    echo 'DPkg::Post-Invoke { "rm -f /var/cache/apt/archives/*.deb /var/cache/apt/*.bin || true"; };' \
        > "$base_dir/root/etc/apt/apt.conf.d/docker-clean"
    rm -f "$base_dir"/root/var/cache/apt/archives/*.deb "$base_dir"/root/var/cache/apt/*.bin
    tar -C "$base_dir/root" -c . | docker import \
        --change "LABEL goldcheck.base=\"a stand-in for $base_name from packages of Debian $base_suite\"" \
        - "$base_name" > /dev/null
    rm -rf "$base_dir/root"
    echo "base image: a stand-in for $base_name from Debian $base_suite ($(docker image inspect -f '{{.Size}}' "$base_name") bytes)"
}
