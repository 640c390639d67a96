# Clients of Perl's HTTP libraries: web.pl LIBRARY HOW URL.
use strict;
use warnings;
my ($library, $how, $url) = @ARGV;
if ($library eq 'LWP') {
    require LWP::UserAgent;
    my %options = (
        'default' => {}, 'no-hostname' => {verify_hostname => 0},
        'unverified' => {verify_hostname => 0, SSL_verify_mode => 0});
    my $answer = LWP::UserAgent->new(timeout => 10, ssl_opts => $options{$how})->get($url);
    die $answer->status_line, "\n" unless $answer->is_success;
    print $answer->content;
} elsif ($library eq 'HTTP::Tiny') {
    require HTTP::Tiny;
    my %options = ('default' => [], 'verified' => [verify_SSL => 1]);
    my $answer = HTTP::Tiny->new(timeout => 10, @{$options{$how}})->get($url);
    die $answer->{content}, "\n" unless $answer->{success};
    print $answer->{content};
} elsif ($library eq 'Mojo') {
    require Mojo::UserAgent;
    my $agent = Mojo::UserAgent->new(inactivity_timeout => 10);
    $agent->insecure(1) if $how eq 'unverified';
    print $agent->get($url)->result->body;
}
