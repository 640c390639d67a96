internal import Base
internal import HTTPClient
internal import HTTPModel
internal import Origins

/// The requests of a fetch client.
enum FeedRequest {
    /// Asks for a feed as it changed since the last time: by its tag, else by its date
    /// (RFC 9110 §13.1.2: a tag is the better of both).
    static func conditional(_ location: OriginLocation, _ state: FeedState) -> ClientRequest {
        var fields = [
            (
                "Accept",
                "application/feed+json, application/atom+xml, application/rss+xml, "
                    + "application/json;q=0.9, */*;q=0.1"
            )
        ]
        if let tag = state.entityTag {
            fields.append(("If-None-Match", tag))
        } else if let date = state.lastModified {
            fields.append(("If-Modified-Since", date))
        }
        return get(location, fields + [("Accept-Encoding", "gzip")])
    }

    static func get(_ location: OriginLocation, _ fields: [(String, String)] = []) -> ClientRequest
    {
        request("GET", .get, location, fields, [])
    }

    static func form(_ location: OriginLocation, _ items: [(String, String)]) -> ClientRequest {
        let content = items.map { name, value in
            "\(name)=\(PercentCoding.encoded(value.utf8).text)"
        }.joined(separator: "&")
        return post(location, "application/x-www-form-urlencoded", [UInt8](content.utf8))
    }

    static func post(
        _ location: OriginLocation, _ type: String, _ content: [UInt8]
    ) -> ClientRequest {
        request(
            "POST", .post, location,
            [("Content-Type", type), ("Content-Length", String(content.count))], content)
    }

    private static func request(
        _ word: String, _ method: KnownMethod, _ location: OriginLocation,
        _ fields: [(String, String)], _ content: [UInt8]
    ) -> ClientRequest {
        var head = "\(word) \(location.path) HTTP/1.1\r\nHost: \(location.target.authority)\r\n"
        head += "User-Agent: sallyport\r\n"
        for (name, value) in fields { head += "\(name): \(value)\r\n" }
        var request = ClientRequest(
            target: location.target, method: method, isSafe: method == .get,
            head: [UInt8]((head + "\r\n").utf8), content: .bytes(content), isChunked: false)
        request.prefersHTTP2 = location.target.isSecure
        return request
    }
}
