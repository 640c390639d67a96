#!/bin/bash
# usage: kdc.sh FOLDER
# Runs a KDC of a realm of its own on a free port of this machine, with alice and HTTP/localhost; the
# keys are in alice.keytab and keytab, and krb5.conf is for clients.
set -e
folder=$1
realm=SALLYPORT.TEST
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
export KRB5_CONFIG=$folder/krb5.conf KRB5_KDC_PROFILE=$folder/kdc.conf
cat >"$KRB5_CONFIG" <<END
[libdefaults]
    default_realm = $realm
    dns_lookup_kdc = false
    dns_lookup_realm = false
    rdns = false
    dns_canonicalize_hostname = false
    udp_preference_limit = 1
[realms]
    $realm = {
        kdc = 127.0.0.1:$port
    }
[domain_realm]
    localhost = $realm
END
cat >"$KRB5_KDC_PROFILE" <<END
[kdcdefaults]
    kdc_listen = 127.0.0.1:$port
    kdc_tcp_listen = 127.0.0.1:$port
[realms]
    $realm = {
        database_name = $folder/principal
        key_stash_file = $folder/stash
        acl_file = $folder/acl
    }
END
{
    kdb5_util create -s -P master -r $realm
    kadmin.local addprinc -randkey alice
    kadmin.local addprinc -randkey HTTP/localhost
    kadmin.local ktadd -k "$folder/alice.keytab" alice
    kadmin.local ktadd -k "$folder/keytab" HTTP/localhost
} >"$folder/kdc.log" 2>&1
exec krb5kdc -n
