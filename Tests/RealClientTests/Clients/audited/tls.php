<?php
// A client of PHP's streams: default, or with one of its checks switched off.
[, $how, $url] = $argv;
$options = ["timeout" => 10];
$tls = [];
if ($how === "unverified") $tls = ["verify_peer" => false, "verify_peer_name" => false];
if ($how === "no-chain") $tls = ["verify_peer" => false];
if ($how === "no-hostname") $tls = ["verify_peer_name" => false];
if ($how === "self-signed") $tls = ["allow_self_signed" => true];
$answer = @file_get_contents($url, false, stream_context_create(["http" => $options, "ssl" => $tls]));
if ($answer === false) { fwrite(STDERR, error_get_last()["message"] . "\n"); exit(1); }
echo $answer;
