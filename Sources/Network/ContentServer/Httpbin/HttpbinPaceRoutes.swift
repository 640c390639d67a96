internal import Base
internal import HTTPModel
internal import HTTPServer

/// Answers that take their time.
enum HttpbinPaceRoutes {
    static func routes(_ configuration: ContentServerConfiguration) -> [HttpbinRoute] {
        [
            HttpbinRoute([.get, .post, .put, .patch, .delete], "/delay/:seconds") { request, body in
                guard let wait = milliseconds(request.match["seconds"]) else { return .plain(400) }
                do throws(Failure) {
                    let content = try await body.collect(byteLimit: configuration.bodyByteLimit)
                    var response = HttpbinReport(request, content: content, namesMethod: false)
                        .response
                    var delivery = Delivery()
                    delivery.headDelay = min(wait, longestDelay)
                    response.delivery = delivery
                    return response
                } catch {
                    return .unreadable(error)
                }
            },
            .get("/drip", drip),
        ]
    }

    /// `numbytes` asterisks spread over `duration` seconds, `delay` seconds after the request.
    private static func drip(_ request: ServerRequest) -> ServerResponse {
        func number(_ name: String, or standard: UInt64) -> UInt64? {
            request.path.queryValue(name).map { decimal($0) } ?? standard
        }
        func time(_ name: String, or standard: UInt64) -> UInt64? {
            request.path.queryValue(name).map(milliseconds) ?? standard
        }
        guard let count = number("numbytes", or: 10), (1...byteLimit).contains(count),
            let code = number("code", or: 200), (200...599).contains(code),
            let duration = time("duration", or: 2_000), let wait = time("delay", or: 0)
        else { return .plain(400) }
        var response = ServerResponse(
            Int(code), [ResponseField("Content-Type", "application/octet-stream")],
            body: .stream(length: count, RepeatedSource("*", 0..<count)))
        var delivery = Delivery()
        delivery.headDelay = wait
        // Not more often than each 10 milliseconds.
        let slices = max(1, min(count, duration / 10))
        delivery.bodyPace = Pace(
            slice: Int((count + slices - 1) / slices), interval: duration / slices)
        response.delivery = delivery
        return response
    }

    /// Of seconds, with or without a fraction.
    private static func milliseconds(_ seconds: [UInt8]) -> UInt64? {
        guard let value = Double(seconds.text), value >= 0, value <= 3600 else { return nil }
        return UInt64(value * 1000)
    }

    /// In milliseconds, as httpbin has it.
    private static let longestDelay: UInt64 = 10_000
    private static let byteLimit: UInt64 = 10 << 20
}
