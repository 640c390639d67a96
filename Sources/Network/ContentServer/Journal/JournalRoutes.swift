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

    func answer(_ request: ServerRequest) async -> ServerResponse {
        guard request.isLocal else { return .plain(403) }
        let parts = request.path.segments.dropFirst().map(\.text)
        switch (request.method, parts) {
        case (.post, ["reset"]):
            journal.reset()
            schedule.reset()
            pushes.reset()
            managed.reset()
            return ServerResponse(204)
        case (.get, ["journal"]), (.head, ["journal"]): return await list(request)
        case (.get, ["journal", "count"]):
            let filter = Self.filter(request)
            return await Self.response { [journal] in
                Made(json: ["count": .integer(Int64(journal.contents(filter).records.count))])
            }
        case (.get, ["assert"]): return await judge(request)
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

    private static func filter(_ request: ServerRequest) -> JournalFilter {
        var filter = JournalFilter()
        filter.client = request.path.queryValue("client")?.text
        filter.path = (request.path.queryValue("path")?.text).map {
            // Whoever names one without its slash means that one.
            $0.hasPrefix("/") || $0.hasPrefix("*") ? $0 : "/" + $0
        }
        filter.range = request.path.queryValue("range")?.text
        return filter
    }

    // MARK: Beside the loop

    /// What is made of the journal: a full one takes longer than other clients may wait.
    private struct Made: Sendable {
        var type = FileType.json
        let content: [UInt8]
        var fields: [ResponseField] = []

        init(json: JSONText) { content = json.line + [0x0A] }

        init(type: String, _ text: [UInt8]) {
            self.type = type
            content = text
        }
    }

    private static func response(
        _ make: @escaping @Sendable () -> Made
    ) async -> ServerResponse {
        do throws(Failure) {
            let made = try await besideLoop(make)
            return ServerResponse(
                200,
                [
                    ResponseField("Content-Type", made.type),
                    ResponseField("Cache-Control", "no-store"),
                ] + made.fields,
                body: .bytes(made.content))
        } catch {
            return .plain(500)
        }
    }

    private func list(_ request: ServerRequest) async -> ServerResponse {
        let filter = Self.filter(request)
        let format = request.path.queryValue("format")?.text
        let ownHost = request.host ?? ""
        return await Self.response { [journal] in
            let contents = journal.contents(filter)
            switch format {
            case "canonical": return Made(type: "application/jsonl", contents.canonical)
            case "text":
                return Made(
                    type: Self.plainText, [UInt8](Self.text(contents, ownHost: ownHost).utf8))
            default:
                return Made(json: [
                    "schema": "sallyport.journal/1",
                    "dropped": .integer(Int64(clamping: contents.dropped)),
                    "fileError": .optional(contents.writeFailure?.detail),
                    "requests": .each(contents.records, \.json),
                ])
            }
        }
    }

    private static func text(_ contents: Journal.Contents, ownHost: String) -> String {
        guard !contents.records.isEmpty else { return "no requests\n" }
        return contents.records.map { $0.text(ownHost: ownHost) + "\n" }.joined()
    }

    // MARK: Assertions

    private typealias Judged = (text: String, verdict: JournalAssertion.Verdict)

    private func judge(_ request: ServerRequest) async -> ServerResponse {
        let query = request.path.query ?? []
        let items = FormItem.parse(query[...])
        // A rule that cannot be read, or is called otherwise, is not to pass for one that holds.
        guard items.count == query.split(separator: UInt8(ascii: "&")).count else {
            return Self.refused("the query cannot be read, or is too long")
        }
        if let other = items.first(where: { !Self.parameters.contains($0.name.text) }) {
            return Self.refused("there is no parameter '\(other.name.text.prefix(80))'")
        }
        let texts = items.filter { $0.name.elementsEqual("rule".utf8) }.map(\.value.text)
        guard texts.count <= JournalAssertion.countLimit else {
            return Self.refused(
                "\(texts.count) assertions are more than the \(JournalAssertion.countLimit) that"
                    + " are judged at once")
        }
        var rules: [(text: String, assertion: JournalAssertion)] = []
        for text in texts {
            guard let assertion = JournalAssertion(text) else { return Self.unknown(text) }
            rules.append((text, assertion))
        }
        guard !rules.isEmpty else { return Self.unknown("") }
        let (filter, asked) = (Self.filter(request), rules)
        let isText = request.path.queryValue("format")?.text == "text"
        return await Self.response { [journal] in
            let contents = journal.contents(filter)
            let judged = asked.map { ($0.text, $0.assertion.judge(contents.records)) }
            return Self.made(judged, dropped: contents.dropped, isText: isText)
        }
    }

    private static func made(_ judged: [Judged], dropped: UInt64, isText: Bool) -> Made {
        // A journal that has lost records cannot say that something never happened.
        let outcomes = judged.map(\.verdict.outcome)
        let outcome: JournalAssertion.Verdict.Outcome =
            outcomes.contains(.failed)
            ? .failed : outcomes.contains(.unseen) || dropped > 0 ? .unseen : .passed
        var made: Made
        if isText {
            let lines = judged.map { text, verdict in
                (["\(verdict.outcome.rawValue)  \(text)"]
                    + verdict.explanations.map { "        \($0)" }).joined(separator: "\n") + "\n"
            }
            let note = dropped > 0 ? "\(dropped) records were dropped\n" : ""
            made = Made(type: plainText, [UInt8]((lines.joined() + note).utf8))
        } else {
            made = Made(json: [
                "schema": "sallyport.assertions/1", "outcome": .string(outcome.rawValue),
                "dropped": .integer(Int64(clamping: dropped)),
                "assertions": .each(judged) { text, verdict in
                    [
                        "assertion": .string(text),
                        "outcome": .string(verdict.outcome.rawValue),
                        "explanations": .each(verdict.explanations) { .string($0) },
                    ]
                },
            ])
        }
        made.fields = [
            ResponseField("Sallyport-Outcome", outcome.rawValue),
            ResponseField("Sallyport-Judged", String(judged.count)),
        ]
        return made
    }

    private static func refused(_ why: String) -> ServerResponse {
        ServerResponse(400, type: plainText, "\(why)\n")
    }

    private static func unknown(_ text: String) -> ServerResponse {
        refused(
            "there is no assertion '\(text.prefix(80))'; there are "
                + JournalAssertion.words.joined(separator: ", "))
    }

    private static let parameters = [
        "rule", "client", "path", "range", "format", "sallyport-client",
    ]
    private static let plainText = "text/plain; charset=utf-8"
}
