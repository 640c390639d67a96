internal import Base
internal import Contents

/// One object of JSON, by the names of its members; what has another type counts as missing.
struct JournalValue {
    private let document: JSONDocument
    private let place: Int

    /// `nil` for what is no object.
    init?(_ bytes: [UInt8]) {
        guard let document = JSONDocument(bytes), document[JSONDocument.root].kind == .object else {
            return nil
        }
        self.init(document, JSONDocument.root)
    }

    private init(_ document: JSONDocument, _ place: Int) {
        self.document = document
        self.place = place
    }

    func text(_ name: StaticString) -> String? {
        member(name, .string).map { document.key(of: $0).text }
    }

    func integer(_ name: StaticString) -> Int64? {
        member(name, .number).flatMap { Int64(document.spelling(of: $0).text) }
    }

    func boolean(_ name: StaticString) -> Bool? {
        guard let place = document.member(name, of: place) else { return nil }
        return switch document[place].kind {
        case .true: true
        case .false: false
        default: nil
        }
    }

    /// Bytes in hexadecimal.
    func bytes(_ name: StaticString) -> [UInt8]? {
        text(name).flatMap { Base.bytes(fromHex: $0) }
    }

    func object(_ name: StaticString) -> JournalValue? {
        member(name, .object).map { JournalValue(document, $0) }
    }

    func objects(_ name: StaticString) -> [JournalValue] {
        elements(name).filter { document[$0].kind == .object }.map { JournalValue(document, $0) }
    }

    func texts(_ name: StaticString) -> [String] {
        elements(name).filter { document[$0].kind == .string }.map { document.key(of: $0).text }
    }

    private func elements(_ name: StaticString) -> [Int] {
        member(name, .array).map { document.elements(of: $0) } ?? []
    }

    private func member(_ name: StaticString, _ kind: JSONDocument.Kind) -> Int? {
        document.member(name, of: place).flatMap { document[$0].kind == kind ? $0 : nil }
    }
}

extension JSONText {
    /// An object without the members that are null.
    static func sparse(_ members: KeyValuePairs<String, JSONText>) -> JSONText {
        .object(members.compactMap { $0.value == .null ? nil : Member($0.key, $0.value) })
    }

    static func texts(_ texts: [String]) -> JSONText { .array(texts.map { .string($0) }) }
}
