# A client of net/http: default, or without verification.
require "net/http"
how, url = ARGV
uri = URI(url)
http = Net::HTTP.new(uri.host, uri.port)
http.use_ssl = true
http.open_timeout = http.read_timeout = 10
http.max_retries = 0
http.verify_mode = OpenSSL::SSL::VERIFY_NONE if how == "unverified"
http.verify_hostname = false if how == "no-hostname"
puts http.get("/").body
