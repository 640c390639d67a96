internal import Base
internal import Redaction
internal import Refresh
internal import Runs
internal import Transfer

extension FetchEvent {
    /// A line in the schema `sallyport.refresh-event/1`, without secrets in URLs.
    var json: JSONText {
        switch kind {
        case .client(let event): json(of: event)
        case .handedOver(let asset, let task):
            line(
                "handed-over",
                [
                    ("id", .string(task)), ("url", .string(URLRedaction.redact(asset.url))),
                    ("discretionary", .boolean(asset.isDiscretionary)),
                ])
        case .transferred(let task, let isInPlace):
            line(
                "transferred",
                task.values + [
                    ("file", .optional(task.file)), ("bytes", .integer(task.committed)),
                    ("sha256", .optional(task.digest?.hex)), ("inPlace", .boolean(isInPlace)),
                ])
        case .transferFailed(let task, let failure):
            line("transfer-failed", task.values + [("error", failure.shown.json)])
        case .loginWanted(let task): line("login-wanted", task.values)
        case .transfersUnheard(let failure, let pause):
            line(
                "transfers-unheard",
                [("pauseMs", .integer(pause)), ("error", failure.shown.json)])
        case .configured(let read): line("configured", read.values)
        case .note(let text): line("note", [("detail", .string(text))])
        }
    }

    private func json(of event: RefreshClient.Event) -> JSONText {
        switch event {
        case .decision(let decision, let at): decision.json(at: at)
        case .report(let report, let app):
            line(
                "feed",
                [
                    ("app", .string(app)),
                    ("url", .string(URLRedaction.redact(report.url))),
                ] + report.values + [("error", report.failure?.shown.json ?? .null)])
        case .socket(let event): json(of: event)
        case .merged(let count): line("merged", [("items", .integer(Int64(count)))])
        case .failed(let failure): line("failed", [("error", failure.shown.json)])
        }
    }

    private func json(of event: DeviceSocket.Event) -> JSONText {
        switch event {
        case .registered(let topic, let token):
            line("registered", [("topic", .string(topic)), ("token", .string(token))])
        case .listening: line("listening", [])
        case .push(let push):
            line(
                "push",
                [
                    ("topic", .string(push.topic)), ("id", .string(push.id)),
                    ("kind", .string(push.kind.rawValue)),
                    ("piggybacked", .boolean(push.isPiggybacked)),
                ])
        case .ended(let failure, let pause):
            line(
                "push-lost",
                [("pauseMs", .integer(pause)), ("error", failure?.shown.json ?? .null)])
        }
    }

    private func line(_ name: String, _ values: [(String, JSONText)]) -> JSONText {
        RefreshEventLine.json(name, at: at, values)
    }

    // MARK: For people

    /// A line on a terminal; `nil` for what only programs want to know.
    func text(_ palette: Palette) -> String? {
        guard let (text, style) = words else { return nil }
        let time = Timestamp(microseconds: at * 1000).timeOfDay
        return palette.paint(time, .faint) + " "
            + palette.paint(TerminalText.sanitized(text), style)
    }

    private var words: (String, Palette.Style?)? {
        switch kind {
        case .client(.decision(let decision, _)): decision.words.map { ($0, nil) }
        case .client(.report(let report, _)): (report.words, report.failure == nil ? nil : .red)
        case .client(.socket(let event)): (event.words, nil)
        case .client(.merged(let count)): ("\(Quantity.text(count, "item")) merged", nil)
        case .client(.failed(let failure)): (failure.shown.detail, .red)
        case .handedOver(let asset, let task):
            ("left to transfer \(task.prefix(8)): \(URLRedaction.redact(asset.url))", nil)
        case .transferred(let task, true): (task.endingText, .green)
        case .transferred(let task, false):
            ("\(task.file ?? task.identifier) was completed, and is no longer there", .yellow)
        case .transferFailed(let task, _): (task.endingText, .red)
        case .loginWanted(let task):
            ("transfer \(task.identifier.prefix(8)) waits for a login: \(task.shownURL)", .yellow)
        case .transfersUnheard(let failure, _): (failure.shown.detail, .yellow)
        case .configured(let read): (read.words, read.wrongCount > 0 ? .yellow : nil)
        case .note(let text): (text, .yellow)
        }
    }
}

extension TransferTask {
    fileprivate var values: [(String, JSONText)] {
        [
            ("app", .string(session)), ("id", .string(identifier)), ("url", .string(shownURL)),
        ]
    }
}

extension ManagedConfiguration {
    fileprivate var values: [(String, JSONText)] {
        [
            ("interval", .optional(interval?.text)),
            ("feeds", feeds.map { .array($0.map { .string(URLRedaction.redact($0)) }) } ?? .null),
            ("allowsCellular", allowsCellular.map { .boolean($0) } ?? .null),
            ("ignoredKeys", .integer(Int64(ignoredCount))),
            ("wrongValues", .integer(Int64(wrongCount))),
        ]
    }

    fileprivate var words: String {
        var words: [String] = []
        if let interval { words.append("interval \(interval.text)") }
        if let feeds { words.append(Quantity.text(feeds.count, "feed")) }
        if let allowsCellular { words.append(allowsCellular ? "cellular" : "no cellular") }
        if ignoredCount > 0 { words.append(Quantity.text(ignoredCount, "unknown key")) }
        if wrongCount > 0 { words.append(Quantity.text(wrongCount, "wrong value")) }
        return "managed: " + (words.isEmpty ? "nothing is said" : words.joined(separator: ", "))
    }
}

extension RefreshDecision {
    /// `nil` for what goes without saying where somebody watches.
    fileprivate var words: String? {
        switch self {
        case .wake(let wake):
            "wake \(wake.token.number): \(wake.app) is \(wake.mode.rawValue), by "
                + wake.cause.rawValue
        case .finished(let token, _, let result, _): "wake \(token.number): \(result.rawValue)"
        case .violation(let violation, let token, _):
            "wake \(token.number): \(violation.rawValue)"
        case .terminated(let app): "\(app) is ended"
        case .held(let app, let reason): "\(app) is not woken: \(reason.rawValue)"
        case .deferred(let app, let reason): "\(app) is woken later: \(reason.rawValue)"
        case .dropped(let app, let reason): "\(app) is not woken for it: \(reason.rawValue)"
        case .banner(let app): "the user sees a push to \(app)"
        case .ask(let app): "may \(app) use the local network? (event consent)"
        case .window, .snapshot, .delivered, .transfersEnded, .merge, .foreground: nil
        }
    }
}

extension FeedReport {
    fileprivate var words: String {
        let place = URLRedaction.redact(url)
        if let failure { return "\(place): \(failure.shown.detail)" }
        if isGone, items.isEmpty { return "\(place): it is gone" }
        if wasSkipped { return "\(place): its server wants to be left alone" }
        let new = items.isEmpty ? "nothing new" : "\(items.count) new"
        let files = handedCount > 0 ? ", \(Quantity.text(handedCount, "file")) for later" : ""
        return "\(place): \(new)\(files), \(Quantity.text(byteCount: bytes))"
    }
}

extension DeviceSocket.Event {
    fileprivate var words: String {
        switch self {
        case .registered(let topic, let token): "\(topic) has the token \(token)"
        case .listening: "listening for pushes"
        case .push(let push):
            "push to \(push.topic): \(push.kind.rawValue)"
                + (push.isPiggybacked ? ", taken along" : "")
        case .ended(let failure, let pause):
            "the push service is heard again in \(Quantity.text(microseconds: pause * 1000))"
                + (failure.map { ": \($0.shown.detail)" } ?? "")
        }
    }
}

extension KeptItem {
    /// A line in the schema `sallyport.refresh-item/1`, without secrets in URLs.
    var shownRow: [UInt8] { json(URLRedaction.redact).line }

    var shownFeed: String { URLRedaction.redact(feed) }
}

extension Failure {
    /// Without secrets in the URLs that it names.
    fileprivate var shown: Failure {
        let words = detail.split(separator: " ", omittingEmptySubsequences: false).map { word in
            guard word.contains("://") else { return String(word) }
            let isColon = word.hasSuffix(":")
            let url = isColon ? String(word.dropLast()) : String(word)
            return URLRedaction.redact(url) + (isColon ? ":" : "")
        }
        return Failure(code, party: party, words.joined(separator: " "), hint: hint)
    }

    fileprivate var json: JSONText {
        var members = [
            JSONText.Member("code", .string(code)),
            JSONText.Member("party", .string(party.rawValue)),
            JSONText.Member("detail", .string(detail.withoutUnseen)),
        ]
        if let hint { members.append(JSONText.Member("hint", .string(hint))) }
        return .object(members)
    }
}
