internal import Base
internal import HTTPModel
internal import HTTPServer
internal import TLS

/// `/.sallyport/`: what the journal has, for tests on this machine.
struct JournalRoutes {
    let journal: Journal
    let schedule: FaultSchedule
    let pushes: PushService
    let managed: ManagedRoutes
    let authority: Certificate?
    let issueClientCertificate: (@Sendable () -> [UInt8]?)?

    func answer(_ request: ServerRequest) -> ServerResponse {
        guard request.isLocal else { return .plain(403) }
        let parts = request.path.segments.dropFirst().map(\.text)
        switch (request.method, parts) {
        case (.post, ["reset"]):
            journal.reset()
            schedule.reset()
            pushes.reset()
            managed.reset()
            return ServerResponse(204)
        case (.get, ["journal"]), (.head, ["journal"]): return list(request)
        case (.get, ["journal", "count"]):
            return json(200, ["count": .integer(Int64(contents(request).records.count))])
        case (.get, ["assert"]): return judge(request)
        case (.get, ["client.pem"]):
            return issueClientCertificate?().map(Self.pem) ?? .plain(404)
        case (.get, ["ca.pem"]): return authority.map { Self.pem($0.pem) } ?? .plain(404)
        default: return .plain(404)
        }
    }

    private static func pem(_ text: [UInt8]) -> ServerResponse {
        ServerResponse(
            200,
            [
                ResponseField("Content-Type", "application/x-pem-file"),
                ResponseField("Cache-Control", "no-store"),
            ], body: .bytes(text))
    }

    private func contents(_ request: ServerRequest) -> Journal.Contents {
        var filter = JournalFilter()
        filter.client = request.path.queryValue("client")?.text
        filter.path = (request.path.queryValue("path")?.text).map {
            // Whoever names one without its slash means that one.
            $0.hasPrefix("/") || $0.hasPrefix("*") ? $0 : "/" + $0
        }
        filter.range = request.path.queryValue("range")?.text
        return journal.contents(filter)
    }

    private func list(_ request: ServerRequest) -> ServerResponse {
        let contents = contents(request)
        switch request.path.queryValue("format")?.text {
        case "canonical":
            return ServerResponse(
                200, [ResponseField("Content-Type", "application/jsonl")],
                body: .bytes(contents.canonical))
        case "text":
            return ServerResponse(
                200, type: Self.plainText, Self.text(contents, ownHost: request.host ?? ""))
        default:
            return json(
                200,
                [
                    "schema": "sallyport.journal/1",
                    "dropped": .integer(Int64(clamping: contents.dropped)),
                    "fileError": .optional(contents.writeFailure?.detail),
                    "requests": .each(contents.records, \.json),
                ])
        }
    }

    private static func text(_ contents: Journal.Contents, ownHost: String) -> String {
        guard !contents.records.isEmpty else { return "no requests\n" }
        return contents.records.map { $0.text(ownHost: ownHost) + "\n" }.joined()
    }

    private func judge(_ request: ServerRequest) -> ServerResponse {
        let texts = FormItem.parse((request.path.query ?? [])[...]).filter {
            $0.name.elementsEqual("rule".utf8)
        }.prefix(16).map(\.value.text)
        var judged: [(text: String, verdict: JournalAssertion.Verdict)] = []
        let contents = contents(request)
        for text in texts {
            guard let assertion = JournalAssertion(text) else { return Self.unknown(text) }
            judged.append((text, assertion.judge(contents.records)))
        }
        guard !judged.isEmpty else { return Self.unknown("") }
        // A journal that has lost records cannot say that something never happened.
        let isIncomplete = contents.dropped > 0
        let outcomes = judged.map(\.verdict.outcome)
        let outcome: JournalAssertion.Verdict.Outcome =
            outcomes.contains(.failed)
            ? .failed : outcomes.contains(.unseen) || isIncomplete ? .unseen : .passed
        var response: ServerResponse
        if request.path.queryValue("format")?.text == "text" {
            let lines = judged.map { text, verdict in
                (["\(verdict.outcome.rawValue)  \(text)"]
                    + verdict.explanations.map { "        \($0)" }).joined(separator: "\n") + "\n"
            }
            let note = isIncomplete ? "\(contents.dropped) records were dropped\n" : ""
            response = ServerResponse(200, type: Self.plainText, lines.joined() + note)
        } else {
            response = json(
                200,
                [
                    "schema": "sallyport.assertions/1", "outcome": .string(outcome.rawValue),
                    "dropped": .integer(Int64(clamping: contents.dropped)),
                    "assertions": .each(judged) { text, verdict in
                        [
                            "assertion": .string(text),
                            "outcome": .string(verdict.outcome.rawValue),
                            "explanations": .each(verdict.explanations) { .string($0) },
                        ]
                    },
                ])
        }
        response.fields.append(ResponseField("Sallyport-Outcome", outcome.rawValue))
        return response
    }

    private static func unknown(_ text: String) -> ServerResponse {
        ServerResponse(
            400, type: plainText,
            "there is no assertion '\(text.prefix(80))'; there are "
                + JournalAssertion.words.joined(separator: ", ") + "\n")
    }

    private static let plainText = "text/plain; charset=utf-8"
}
