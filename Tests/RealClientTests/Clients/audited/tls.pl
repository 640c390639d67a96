# A client of IO::Socket::SSL: default, or with one of its checks switched off.
use strict;
use warnings;
use IO::Socket::SSL;
my ($how, $host, $port) = @ARGV;
my %options = (PeerHost => $host, PeerPort => $port, SSL_hostname => $host, Timeout => 10);
$options{SSL_verify_mode} = SSL_VERIFY_NONE if $how eq 'unverified';
$options{SSL_verifycn_scheme} = $how eq 'no-hostname' ? 'none' : 'http';
my $socket = IO::Socket::SSL->new(%options) or die "refused: $SSL_ERROR\n";
print $socket "GET / HTTP/1.1\r\nHost: $host\r\nConnection: close\r\n\r\n";
print while <$socket>;
