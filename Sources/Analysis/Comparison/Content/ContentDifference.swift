internal import Base
internal import Contents
internal import HTTPCodecs
internal import HTTPModel
internal import Redaction
internal import Replay

/// Tells two contents apart by what they mean, as far as that is known.
struct ContentDifference {
    /// A content that was read whole, or up to the limit.
    struct Content {
        /// As it was on the wire.
        var bytes: [UInt8] = []
        /// The bytes that passed.
        var size: Int64 = 0
        /// Whether all of it is in `bytes`.
        var isWhole = true
        var types: [[UInt8]] = []
        /// `nil` if one is not known.
        var codings: [ContentCoding]? = []
        /// The bytes as a dialogue of commands may show them; `nil` if as they are.
        var masked: [UInt8]?
    }

    let side: Difference.Side
    let configuration: ComparisonConfiguration
    /// What rules have in front of the fields of this content, which is one of several.
    var formPrefix = ""

    func differences(_ left: Content, _ right: Content) -> [Difference] {
        guard !configuration.rules.ignoresContents(side.rule) else { return [] }
        guard left.isWhole, right.isWhole else { return [opaque(left, right)] }
        let (before, after) = (plain(left), plain(right))
        guard before.bytes != after.bytes else { return [] }
        if configuration.rules.ignores(side.rule, .body("")), before.hasNoPieces, after.hasNoPieces
        {
            return []
        }
        if before.bytes.isEmpty || after.bytes.isEmpty { return [onlyOne(before, after)] }
        if before.masked != nil || after.masked != nil { return text(before, after) }
        if let found = messages(before, after) { return found }
        if before.claimsJSON, after.claimsJSON, let left = JSONDocument(before.bytes),
            let right = JSONDocument(after.bytes),
            left.member("query", of: JSONDocument.root) == nil
        {
            return json(left, right)
        }
        let (leftForm, rightForm) = (before.form, after.form)
        guard leftForm.kind == rightForm.kind else { return unlike(before, after) }
        switch leftForm.kind {
        case .json:
            guard let left = JSONDocument(before.bytes), let right = JSONDocument(after.bytes)
            else { return [opaque(before, after)] }
            // A text in quotes that does not claim to be JSON has secrets as texts have them.
            let kinds = [left[JSONDocument.root].kind, right[JSONDocument.root].kind]
            return kinds.contains(.string) ? text(before, after) : json(left, right)
        // What gRPC-Web has as text hides what is secret in it.
        case .text: return before.isGRPC ? [opaque(before, after)] : text(before, after)
        case .none, .bytes, .digest: return [opaque(before, after)]
        case .form, .multipart, .graphQL, .grpc, .protobuf:
            return flat(before, leftForm, after, rightForm)
        }
    }

    // MARK: Kinds

    /// `nil` if one of the contents does not consist of messages.
    private func messages(_ left: Content, _ right: Content) -> [Difference]? {
        guard let before = BodyMessages.read(left.bytes, type: left.type, configuration),
            let after = BodyMessages.read(right.bytes, type: right.type, configuration)
        else { return nil }
        if before == after {
            return [
                Difference(side, .text, "layout", .changed, left: nil, right: nil, isNote: true)
            ]
        }
        return MessageDifference.differences(
            before, after, side: side, configuration: configuration)
    }

    private func json(_ left: JSONDocument, _ right: JSONDocument) -> [Difference] {
        JSONDifference.differences(left, right, side: side, configuration: configuration)
    }

    /// Tells the lines apart as they may be shown.
    private func text(_ left: Content, _ right: Content) -> [Difference] {
        guard let before = shown(left), let after = shown(right) else {
            return [opaque(left, right)]
        }
        var found = TextDifference.differences(
            before, after, side: side, limit: configuration.differenceLimit)
        if configuration.renaming.agree(left.bytes, right.bytes) {
            for index in found.indices { found[index].isNote = true }
        }
        guard found.isEmpty else { return found }
        let mark = redactionMark.text
        return [
            Difference(
                side, .text, from: mark, to: mark,
                recorded: (
                    left.bytes.count - before.count + mark.utf8.count,
                    right.bytes.count - after.count + mark.utf8.count
                ), isNote: configuration.renaming.agree(left.bytes, right.bytes))
        ]
    }

    private func flat(
        _ left: Content, _ leftForm: BodyForm, _ right: Content, _ rightForm: BodyForm
    ) -> [Difference] {
        let before = shown(left).map { BodyForm($0, type: left.type) }
        let after = shown(right).map { BodyForm($0, type: right.type) }
        return ParameterDifference(
            side: side, kind: .form, renaming: configuration.renaming
        ).differences(
            Parameter.list(leftForm, shown: before), Parameter.list(rightForm, shown: after)
        ) { configuration.rules.ignores(side.rule, .body(formPrefix + $0)) }
    }

    private func unlike(_ left: Content, _ right: Content) -> [Difference] {
        let kinds: Set<BodyKind> = [left.form.kind, right.form.kind]
        return kinds.isDisjoint(with: [.bytes, .digest, .grpc, .protobuf])
            ? text(left, right) : [opaque(left, right)]
    }

    private func onlyOne(_ left: Content, _ right: Content) -> Difference {
        Difference(
            side, .binary, from: left.bytes.isEmpty ? nil : summary(left),
            to: right.bytes.isEmpty ? nil : summary(right))
    }

    /// Tells contents apart by size and digest.
    private func opaque(_ left: Content, _ right: Content) -> Difference {
        Difference(side, .binary, from: summary(left), to: summary(right))
    }

    /// A content that has no counterpart, as it may be shown.
    func shownWhole(_ content: Content) -> String {
        guard content.isWhole, let bytes = shown(content),
            PrintableText(bytes, isWhole: true) != nil
        else { return summary(content) }
        return shownText(bytes)
    }

    private func summary(_ content: Content) -> String {
        // A digest of little would tell what is in it.
        guard content.isWhole, shown(content) != nil else { return "\(content.size) bytes" }
        return "\(content.bytes.count) bytes, SHA-256 "
            + configuration.sha256(content.bytes).prefix(8).hex
    }

    // MARK: Forms of a content

    private func plain(_ content: Content) -> Content {
        let decoded = DecodedContent(
            content.bytes, content.codings, byteLimit: configuration.contentLimit)
        // Starts that are the same say nothing of what follows.
        guard decoded.state == .whole else { return content }
        var plain = content
        plain.bytes = decoded.bytes
        plain.codings = []
        return plain
    }

    /// The content as it may be shown, `nil` if it may not.
    private func shown(_ content: Content) -> [UInt8]? {
        if configuration.withSecrets { return content.bytes }
        let types = content.types.map { $0[...] }
        let bytes = content.masked ?? content.bytes
        switch ContentRedaction.redact(bytes, types: types, isWhole: true) {
        case .understood(let redacted): return redacted
        case .opaque:
            // Behind a line end, so that a field in the first line is not taken for a start line.
            let text = [UInt8(ascii: "\n")] + bytes
            return Array(MessageRedaction.redact(content: text, isWhole: true).dropFirst())
        case .malformed: return nil
        }
    }
}

extension ContentDifference.Content {
    fileprivate var type: ArraySlice<UInt8> { types.first?[...] ?? [] }
    fileprivate var claimsJSON: Bool { MediaType(type).isJSON }
    fileprivate var isGRPC: Bool { MediaType(type).isGRPC }
    fileprivate var form: BodyForm { BodyForm(bytes, type: type) }

    /// Whether rules know no names for what is in it.
    fileprivate var hasNoPieces: Bool {
        if bytes.isEmpty || masked != nil { return true }
        return !MediaType(type).isEventStream && [.text, .bytes].contains(form.kind)
    }
}
