internal import Base
internal import Redaction
internal import Refresh
internal import Runs
package import Terminal
internal import Transfer

extension FetchEvent {
    /// A line on a terminal; `nil` for what only programs want to know.
    package func text(_ palette: Palette) -> String? {
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

extension ManagedConfiguration {
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
