#!/bin/sh
# Put the files of swagger-ui-dist (npm) that /docs needs into app/static/docs, with licences and checksums.
set -eu
version=${1:-5.35.0}
target=$(cd "$(dirname "$0")/../app/static/docs" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm pack --silent "swagger-ui-dist@$version" >/dev/null
tar xzf "swagger-ui-dist-$version.tgz"
cd package
cp swagger-ui.css favicon-32x32.png LICENSE NOTICE swagger-ui-bundle.js.LICENSE.txt "$target"
# Without the source maps' address: the maps are not shipped.
sed '/^\/\/# sourceMappingURL=/d' swagger-ui-bundle.js > "$target/swagger-ui-bundle.js"
sed -i '/^\/\*# sourceMappingURL=/d' "$target/swagger-ui.css"
cd "$target"
echo "$version" > VERSION
sha256sum VERSION LICENSE NOTICE favicon-32x32.png swagger-ui-bundle.js swagger-ui-bundle.js.LICENSE.txt \
    swagger-ui.css > SHA256SUMS
