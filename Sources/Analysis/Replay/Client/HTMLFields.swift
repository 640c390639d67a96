internal import Base
internal import Contents

/// Finds what a page hands out: the values of inputs, and the contents of `meta`.
enum HTMLFields {
    /// Calls `visit` with each place and value, in the order of the page.
    static func read(_ page: [UInt8], _ visit: (ValuePlace, [UInt8]) -> Void) {
        var tokens = MarkupTokenizer(page, isHTML: true)
        while let token = tokens.next() {
            guard token.kind == .startTag else { continue }
            let isInput = page[token.content].equalsIgnoringCase("input")
            guard isInput || page[token.content].equalsIgnoringCase("meta") else { continue }
            // Of several with one name, the first counts.
            func attribute(_ name: StaticString) -> [UInt8]? {
                token.attributes.first {
                    $0.value != nil && page[$0.name].equalsIgnoringCase(name)
                }?.value.map { CharacterReferences.decoded(page[$0]) }
            }
            guard let label = attribute("name") ?? attribute("property"),
                let value = attribute(isInput ? "value" : "content")
            else { continue }
            visit(isInput ? .field(label.text) : .meta(label.text), value)
        }
    }
}
