internal import Base
internal import HTTPServer

/// Answers requests with what goes wrong for them: by the scenario, and by their own URL.
struct FaultLayer {
    let schedule: FaultSchedule
    let configuration: ContentServerConfiguration
    /// Adds the digests that a client asks for, ahead of what is made wrong.
    let digests: ResponseDigests

    /// - Returns: the response, and what is wrong with it.
    func answer(
        _ request: ServerRequest, _ body: RequestBody, client: String, next: @escaping Answer
    ) async -> (response: ServerResponse, faults: [String]) {
        guard !schedule.isEmpty || Self.isOwn(request.path) else {
            return (await digests.added(to: await next(request, body), for: request), [])
        }
        let next: Answer = { request, body in
            await digests.added(to: await next(request, body), for: request)
        }
        let decision = schedule.decide(request, client: client)
        var application = FaultApplication(
            decision.faults, decision.draws, configuration, digests)
        let inner = InnerFaults()
        var response = await application.answer(request, body, others: "") { request, body in
            let (response, faults) = await ownURL(request, body, next: next)
            inner.take(faults)
            return response
        }
        // The next one may meet other faults.
        response.isSteady = false
        let named = decision.rule.map { rule in application.applied.map { "\(rule): \($0)" } }
        return (response, (named ?? []) + inner.faults)
    }

    private static func isOwn(_ path: RequestPath) -> Bool {
        path.segments.first?.elementsEqual("faults".utf8) == true
    }

    /// `/faults/<faults>/<path>`: one-off use, by hand.
    private func ownURL(
        _ request: ServerRequest, _ body: RequestBody, next: Answer
    ) async -> (ServerResponse, [String]) {
        guard Self.isOwn(request.path) else { return (await next(request, body), []) }
        guard request.path.segments.count > 1, !request.path.segments[1].isEmpty else {
            return (Self.list, [])
        }
        let text = request.path.segments[1].text
        guard let rest = Self.rest(of: request.path) else { return (.plain(404), []) }
        do throws(FaultViolation) {
            let faults = try FaultVerb.faults(text)
            let others = text.split(separator: "|").filter { !$0.hasPrefix("redirect:") }
            var application = FaultApplication(
                faults, schedule.draws(forURL: text), configuration, digests)
            let response = await application.answer(
                request.replacing(path: rest), body, others: others.joined(separator: "|"),
                next: next)
            return (response, application.applied)
        } catch {
            let hint = error.hint.map { "\($0)\n" } ?? ""
            return (
                ServerResponse(
                    400, type: "text/plain; charset=utf-8", "\(error.detail)\n\(hint)"), []
            )
        }
    }

    /// The path behind the faults, with the query.
    private static func rest(of path: RequestPath) -> RequestPath? {
        var slashes = 0
        let start = path.raw.firstIndex { byte in
            slashes += byte == UInt8(ascii: "/") ? 1 : 0
            return slashes == 3
        }
        let rest = start.map { [UInt8](path.raw[$0...]) } ?? [UInt8(ascii: "/")]
        return RequestPath(rest + (path.query.map { [UInt8(ascii: "?")] + $0 } ?? []))
    }

    private static var list: ServerResponse {
        let lines = FaultVerb.all.map { verb in
            let space = String(repeating: " ", count: max(1, 44 - verb.usage.utf8.count))
            return "\(verb.usage)\(space)\(verb.summary)\n"
        }
        return ServerResponse(
            200, type: "text/plain; charset=utf-8",
            "/faults/FAULT|FAULT/PATH answers PATH with these faults:\n\n" + lines.joined())
    }
}

/// What the inner of two layers has done; one task writes and reads it.
private final class InnerFaults: @unchecked Sendable {
    private(set) var faults: [String] = []

    func take(_ faults: [String]) { self.faults = faults }
}
