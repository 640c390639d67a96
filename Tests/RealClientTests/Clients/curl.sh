# usage: curl.sh ORIGIN PROXY CA FOLDER UPLOAD NAME…
# Fetches each NAME from the origin into the folder, then puts the file UPLOAD.
origin=$1 proxy=$2 authority=$3 folder=$4 upload=$5
shift 5
set -eu
urls=()
for name in "$@"; do urls+=(--output "$folder/${name##*/}" "$origin/$name"); done
curl --silent --show-error --fail --compressed --proxy "$proxy" --cacert "$authority" "${urls[@]}"
if [ -n "$upload" ]; then
    curl --silent --show-error --fail --proxy "$proxy" --cacert "$authority" \
        --upload-file "$upload" "$origin/upload/${upload##*/}"
fi
