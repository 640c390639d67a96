internal import Base

/// One object of JSON, by the names of its members. What is missing is `nil`, and so is what has
/// another type.
package struct JSONObject {
    private let document: JSONDocument
    private let place: Int

    /// `nil` for what is no object.
    package init?(_ document: JSONDocument) {
        guard document[JSONDocument.root].kind == .object else { return nil }
        self.init(document, at: JSONDocument.root)
    }

    /// Reads a text; `nil` for what is no object.
    package init?(_ bytes: [UInt8]) {
        guard let document = JSONDocument(bytes) else { return nil }
        self.init(document)
    }

    private init(_ document: JSONDocument, at place: Int) {
        self.document = document
        self.place = place
    }

    package var names: [String] {
        document.members(of: place).map { document.key(of: $0.name).text }
    }

    package func has(_ name: StaticString) -> Bool { document.member(name, of: place) != nil }

    package func isNull(_ name: StaticString) -> Bool { member(name, .null) != nil }

    package func text(_ name: StaticString) -> String? {
        member(name, .string).map { document.key(of: $0).text }
    }

    /// A whole number, however it is spelled (`1e3`); `otherwise` where there is no such member.
    package func integer(_ name: StaticString, or otherwise: Int64? = nil) -> Int64? {
        guard has(name) else { return otherwise }
        return member(name, .number).flatMap { Int64(document.key(of: $0).text) }
    }

    /// - Returns: `otherwise` where there is no such member.
    package func boolean(_ name: StaticString, or otherwise: Bool? = nil) -> Bool? {
        guard let found = document.member(name, of: place) else { return otherwise }
        return switch document[found].kind {
        case .true: true
        case .false: false
        default: nil
        }
    }

    /// Bytes in hexadecimal.
    package func bytes(_ name: StaticString) -> [UInt8]? {
        text(name).flatMap { Base.bytes(fromHex: $0) }
    }

    package func object(_ name: StaticString) -> JSONObject? {
        member(name, .object).map { JSONObject(document, at: $0) }
    }

    /// An array of objects alone.
    package func objects(_ name: StaticString) -> [JSONObject]? {
        elements(name, .object)?.map { JSONObject(document, at: $0) }
    }

    /// An array of texts alone.
    package func texts(_ name: StaticString) -> [String]? {
        elements(name, .string)?.map { document.key(of: $0).text }
    }

    private func elements(_ name: StaticString, _ kind: JSONDocument.Kind) -> [Int]? {
        guard let elements = member(name, .array).map({ document.elements(of: $0) }) else {
            return nil
        }
        return elements.allSatisfy { document[$0].kind == kind } ? elements : nil
    }

    private func member(_ name: StaticString, _ kind: JSONDocument.Kind) -> Int? {
        document.member(name, of: place).flatMap { document[$0].kind == kind ? $0 : nil }
    }
}
