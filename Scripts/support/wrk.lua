-- With the argument `post`, each request has a content of 1 KB.
function init(arguments)
    if arguments[1] == "post" then
        wrk.method = "POST"
        wrk.body = string.rep("x", 1024)
    end
end

-- Prints what a run did as one line of JSON.
function done(summary, latency)
    local errors = summary.errors
    io.write(string.format(
        '{"requests":%d,"seconds":%.6f,"bytes":%d,"failed":%d,"p50":%.1f,"p99":%.1f}\n',
        summary.requests, summary.duration / 1e6, summary.bytes,
        errors.connect + errors.read + errors.write + errors.status + errors.timeout,
        latency:percentile(50), latency:percentile(99)))
end
