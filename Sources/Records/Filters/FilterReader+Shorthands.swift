internal import Base

/// The shorthands of mitmproxy, as far as a capture has what they ask for.
extension FilterReader {
    /// What a shorthand stands for.
    private enum Shorthand {
        /// A regular expression for one field.
        case expression(FilterField.Name)
        case status
        /// Nothing follows.
        case fixed(String)
    }

    mutating func readShorthand() throws(FilterViolation) -> Filter {
        let column = place + 1
        place += 1
        let name = readWord { $0.isLetter }
        let known = Self.shorthands[subject] ?? [:]
        guard let shorthand = known[name] else {
            let names = known.keys.sorted().map { "~" + $0 }.joined(separator: " ")
            throw FilterViolation(
                column: column, "unknown shorthand '~\(name)'",
                hint: "\(subject.words) have \(names)")
        }
        skipSpaces()
        let filter: Filter
        switch shorthand {
        case .fixed(let meaning):
            var reader = self
            (reader.text, reader.place) = (Array(meaning), 0)
            filter = try reader.readFilter()
        case .status:
            let value = try readValue(after: "~c")
            let condition = try numberCondition(
                .named(.status), "=", value.text, column: value.column)
            filter = .test(Filter.Test(field: .named(.status), condition: condition))
        case .expression(let field):
            let value = try readValue(after: "~" + name)
            let pattern = try pattern(
                value.text, .expression, column: value.column + (value.isQuoted ? 1 : 0))
            filter = .test(Filter.Test(field: .named(field), condition: .matches(pattern)))
        }
        isBehindShorthand = true
        return filter
    }

    private static let everything = "(id>=0)"
    private static let forExchanges: [String: Shorthand] = [
        "a": .fixed(
            "response-type=image/* or response-type=font/* or response-type=text/css"
                + " or response-type=*/*javascript or response-type=application/*font*"),
        "all": .fixed(everything),
        "b": .expression(.body),
        "bq": .expression(.requestBody),
        "bs": .expression(.responseBody),
        "c": .status,
        "d": .expression(.host),
        "dst": .expression(.origin),
        "e": .fixed("error=*"),
        "h": .expression(.headers),
        "hq": .expression(.requestHeaders),
        "hs": .expression(.responseHeaders),
        "http": .fixed(everything),
        "m": .expression(.method),
        "q": .fixed("not status>0"),
        "s": .fixed("status>0"),
        "src": .expression(.client),
        "t": .expression(.type),
        "tcp": .fixed("not " + everything),
        "tq": .expression(.requestType),
        "ts": .expression(.responseType),
        "u": .expression(.url),
        "websocket": .fixed("upgrade=websocket"),
    ]
    private static let forConnections: [String: Shorthand] = [
        "all": .fixed(everything),
        "d": .expression(.host),
        "dst": .expression(.origin),
        "e": .fixed("error=*"),
        "http": .fixed("protocol=http* or protocol=h2*"),
        "src": .expression(.client),
        "tcp": .fixed("not (protocol=http* or protocol=h2*)"),
    ]
    private static let forMessages: [String: Shorthand] = [
        "all": .fixed(everything),
        "b": .expression(.body),
        "q": .fixed("direction=client"),
        "s": .fixed("direction=origin"),
    ]
    private static let shorthands: [FilterField.Subject: [String: Shorthand]] = [
        .exchanges: forExchanges, .connections: forConnections, .messages: forMessages,
        .records: forExchanges,
    ]
}
