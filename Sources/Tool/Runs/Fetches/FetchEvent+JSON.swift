package import Base
internal import Redaction
package import Refresh
internal import Transfer

extension FetchEvent {
    /// A line in the schema `sallyport.refresh-event/1`, without secrets in URLs.
    package var json: JSONText {
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
}

extension KeptItem {
    /// A line in the schema `sallyport.refresh-item/1`, without secrets in URLs.
    package var shownRow: [UInt8] { json(URLRedaction.redact).line }

    package var shownFeed: String { URLRedaction.redact(feed) }
}

extension Failure {
    /// Without secrets in the URLs that it names.
    package var shown: Failure { showingURLs(URLRedaction.redact) }

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
