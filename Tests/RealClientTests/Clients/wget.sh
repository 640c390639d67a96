# usage: wget.sh ORIGIN PROXY CA FOLDER UPLOAD NAME…
# Fetches each NAME from the origin into the folder, then puts the file UPLOAD.
origin=$1 proxy=$2 authority=$3 folder=$4 upload=$5
shift 5
set -eu
export https_proxy=$proxy
wget --no-verbose --tries=1 --compression=auto --ca-certificate="$authority" \
    --directory-prefix="$folder" "${@/#/$origin/}"
if [ -n "$upload" ]; then
    wget --no-verbose --tries=1 --ca-certificate="$authority" --output-document="$folder/answer" \
        --method=PUT --body-file="$upload" "$origin/upload/${upload##*/}"
fi
