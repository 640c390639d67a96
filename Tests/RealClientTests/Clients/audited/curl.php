<?php
// A client of PHP's curl: default, or with one of its checks switched off.
[, $how, $url] = $argv;
$handle = curl_init($url);
curl_setopt_array($handle, [CURLOPT_RETURNTRANSFER => true, CURLOPT_TIMEOUT => 10]);
if (in_array($how, ["no-chain", "unverified"])) curl_setopt($handle, CURLOPT_SSL_VERIFYPEER, false);
if (in_array($how, ["no-hostname", "unverified"])) curl_setopt($handle, CURLOPT_SSL_VERIFYHOST, 0);
$answer = curl_exec($handle);
if ($answer === false) { fwrite(STDERR, curl_error($handle) . "\n"); exit(1); }
echo $answer;
