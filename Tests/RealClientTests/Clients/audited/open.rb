# A client of open-uri: default or unverified.
require "open-uri"
require "openssl"
options = {open_timeout: 10, read_timeout: 10}
options[:ssl_verify_mode] = OpenSSL::SSL::VERIFY_NONE if ARGV[0] == "unverified"
puts URI.open(ARGV[1], **options).read
