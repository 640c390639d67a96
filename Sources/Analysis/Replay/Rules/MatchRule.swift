internal import Base
internal import HTTPModel

/// What of a request counts when a recorded one is looked for, and how two differ.
package struct MatchRule: Sendable {
    package let rules: ReplayRules

    package init(_ rules: ReplayRules = ReplayRules()) {
        self.rules = rules
    }

    /// The part of a request that counts, with its value.
    package struct Item: Sendable, Hashable {
        package let part: MessagePart
        package let value: String
    }

    /// Fields of which it counts that they are there: their values are made up anew.
    private static let presences: [StaticString] = [
        "authorization", "if-none-match", "if-modified-since",
    ]

    package static func countsPresence(of name: String) -> Bool {
        presences.contains { "\($0)" == name }
    }

    /// Where a request is looked for.
    func place(of facts: RequestFacts) -> RequestPlace {
        let rules = rules.at([facts.place])
        return RequestPlace(
            method: rules.ignores(.request, .method) ? "*" : facts.method,
            origin: rules.ignores(.request, .authority) ? "*" : facts.origin,
            path: rules.ignores(.request, .path) ? rules.pathName : facts.path)
    }

    /// All that counts, in an order that equal requests share.
    ///
    /// - Parameter isStrict: whether the kind of content that the client would like counts, too.
    package func items(of facts: RequestFacts, isStrict: Bool = true) -> [Item] {
        let rules = rules.at([facts.place])
        var items = [
            Item(part: .method, value: facts.method),
            Item(part: .authority, value: facts.origin), Item(part: .path, value: facts.path),
        ]
        for pair in BodyField.parameters(facts.query[...]).sorted() {
            items.append(Item(part: .query(pair.path), value: pair.value))
        }
        addFields(of: facts, rules.of(.match), isStrict: isStrict, to: &items)
        for field in facts.body.fields {
            items.append(Item(part: .body(field.path), value: field.value))
        }
        if rules.rules.isEmpty { return items }
        return items.filter { !rules.ignores(.request, $0.part) }
    }

    private func addFields(
        of facts: RequestFacts, _ matching: [ReplayRule], isStrict: Bool, to items: inout [Item]
    ) {
        let fields = facts.fields
        if facts.opensWebSocket {
            items.append(Item(part: .header("upgrade"), value: "websocket"))
        }
        if let type = fields.first(.contentType) {
            let name = type.prefix { $0 != 0x3B }.trimmingWhitespace
            items.append(Item(part: .header("content-type"), value: name.text.lowercased()))
        }
        if let range = fields.first(named: "range") {
            items.append(Item(part: .header("range"), value: range.text))
        }
        for name in Self.presences where fields.first(named: name) != nil {
            items.append(Item(part: .header("\(name)"), value: "(present)"))
        }
        if isStrict, let accept = fields.first(named: "accept"), !accept.elementsEqual("*/*".utf8) {
            items.append(Item(part: .header("accept"), value: accept.text))
        }
        for rule in matching {
            for slice in fields.slices {
                let name = fields.name(slice).text.lowercased()
                guard rule.covers(.header(name)) else { continue }
                items.append(
                    Item(part: .header(name), value: "= " + fields.value(slice).text))
            }
        }
    }

    /// How two requests differ in what counts, by rising part; none if one stands for the other.
    package func differences(
        recorded: RequestFacts, live: RequestFacts
    ) -> [MatchDifference] {
        Self.differences(items(of: recorded, isStrict: false), items(of: live, isStrict: false))
    }

    static func differences(_ recorded: [Item], _ live: [Item]) -> [MatchDifference] {
        let left = Dictionary(grouping: recorded, by: \.part).mapValues { $0.map(\.value).sorted() }
        let right = Dictionary(grouping: live, by: \.part).mapValues { $0.map(\.value).sorted() }
        return Set(left.keys).union(right.keys).sorted().compactMap { part in
            guard left[part] != right[part] else { return nil }
            return MatchDifference(
                part: part, recorded: left[part]?.joined(separator: ", "),
                live: right[part]?.joined(separator: ", "))
        }
    }
}

/// A part of a request that differs from what was recorded.
package struct MatchDifference: Sendable, Equatable {
    package let part: MessagePart
    /// `nil` if the recorded request does not have it.
    package let recorded: String?
    /// `nil` if the live request does not have it.
    package let live: String?

    package init(part: MessagePart, recorded: String?, live: String?) {
        self.part = part
        self.recorded = recorded
        self.live = live
    }
}

/// Method, origin and path: where exchanges are put to be found again.
struct RequestPlace: Hashable, Sendable {
    let method: String
    let origin: String
    let path: String
}
