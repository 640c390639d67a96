internal import Base
internal import Contents
internal import HTTPModel

/// A content after secrets were looked for in it.
package enum RedactedContent: Equatable {
    /// It was understood; what its names call a secret is masked.
    case understood([UInt8])
    /// It is in no form in which secrets have names.
    case opaque
    /// It is not in the form that its type claims, so that nothing is known of its secrets.
    case malformed(claimed: String)
}

/// Takes the secrets out of a content, as far as its media type tells where they are.
package enum ContentRedaction {
    /// Redacts forms, JSON, multipart contents, XML, HTML and plain text.
    ///
    /// A content that begins as JSON is tried as such whatever its type says: `curl --data` calls
    /// everything a form, and browsers send beacons as plain text.
    ///
    /// - Parameters:
    ///   - types: the values of `Content-Type`; of several, the one that can be looked into counts.
    ///   - isWhole: false if the content was cut at its end.
    package static func redact(
        _ content: [UInt8], types: [ArraySlice<UInt8>], isWhole: Bool
    ) -> RedactedContent {
        redact(content, types: types, isWhole: isWhole, depth: 0)
    }

    /// Redacts one value of a JSON text; `nil` if it is no JSON.
    ///
    /// - Parameter isSecret: whether a name above it in its text is that of a secret.
    package static func redact(json value: [UInt8], isSecret: Bool) -> [UInt8]? {
        JSONRedaction.redact(value, isWhole: true, isSecret: isSecret)
    }

    static func redact(
        _ content: [UInt8], types: [ArraySlice<UInt8>], isWhole: Bool, depth: Int
    ) -> RedactedContent {
        let shown = PrivateKeyRedaction.redact(content)
        let redacted = redact(named: shown, types, isWhole, depth: depth)
        return redacted == .opaque ? masked(shown, of: content) : redacted
    }

    /// Masks what names tell to be secret.
    private static func redact(
        named content: [UInt8], _ types: [ArraySlice<UInt8>], _ isWhole: Bool, depth: Int
    ) -> RedactedContent {
        let kinds = types.map(kind)
        switch kinds.first(where: { $0 != .other && $0 != .unspecific }) ?? kinds.first {
        case .json: return json(content, isWhole, depth: depth)
        case .form where JSONTokenizer.mayBegin(content[...]):
            return json(content, isWhole, depth: depth)
        case .form:
            return FormRedaction.redact(content, isWhole: isWhole).map { .understood($0) }
                ?? .malformed(claimed: "form")
        case .multipart(let boundary, let isForm):
            return MultipartRedaction.redact(
                content, boundary: boundary, isForm: isForm, depth: depth
            ).map { .understood($0) } ?? .malformed(claimed: "multipart content")
        case .xml: return masked(XMLRedaction.redact(content), of: content)
        case .html: return masked(HTMLRedaction.redact(content), of: content)
        case .other: return sniff(content, isWhole, mayBeForm: false, depth: depth)
        case .unspecific, nil: return sniff(content, isWhole, mayBeForm: true, depth: depth)
        }
    }

    private enum Kind: Equatable {
        case json
        case form
        case multipart(boundary: [UInt8], isForm: Bool)
        case xml
        case html
        /// Text of no told form.
        case unspecific
        case other
    }

    private static func kind(_ type: ArraySlice<UInt8>) -> Kind {
        let type = MediaType(type)
        if type.isForm { return .form }
        if type.isMultipart {
            return .multipart(boundary: type.boundary, isForm: type.isFormData)
        }
        if type.isJSON { return .json }
        if type.isXML { return .xml }
        if type.isHTML { return .html }
        // A line of an event stream holds JSON, as a line of text may.
        return type.isGraphQL || type.isPlain || type.isEventStream ? .unspecific : .other
    }

    private static func json(
        _ content: [UInt8], _ isWhole: Bool, depth: Int
    ) -> RedactedContent {
        JSONRedaction.redact(content, isWhole: isWhole, depth: depth).map { .understood($0) }
            ?? .malformed(claimed: "JSON")
    }

    private static func sniff(
        _ content: [UInt8], _ isWhole: Bool, mayBeForm: Bool, depth: Int
    ) -> RedactedContent {
        if JSONTokenizer.mayBegin(content[...]),
            let redacted = JSONRedaction.redact(content, isWhole: isWhole, depth: depth)
        {
            return .understood(redacted)
        }
        if mayBeForm, content.contains(UInt8(ascii: "=")),
            !content.contains(where: { $0 <= UInt8(ascii: " ") }),
            let redacted = FormRedaction.redact(content, isWhole: isWhole)
        {
            return .understood(redacted)
        }
        if content.prefix(prologLimit).drop(while: { !(0x21...0x7E).contains($0) })
            .starts(with: prolog)
        {
            return masked(XMLRedaction.redact(content), of: content)
        }
        // What is no text has a byte of zero somewhere.
        guard mayBeForm, !content.contains(0) else { return .opaque }
        return masked(TextRedaction.redact(content), of: content)
    }

    /// Text whose names are not told by its form: that none was found says nothing.
    private static func masked(_ redacted: [UInt8], of content: [UInt8]) -> RedactedContent {
        redacted == content ? .opaque : .understood(redacted)
    }

    /// XML whose type does not tell begins with this, behind white space or a byte order mark.
    private static let prolog = Array("<?xml".utf8)
    private static let prologLimit = 64
}
