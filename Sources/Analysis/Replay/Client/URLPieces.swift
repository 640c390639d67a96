internal import Base
internal import Contents

/// The pieces of a URL, or of a path with a query, by their places in its bytes.
struct URLPieces {
    /// Between slashes; the first segment is number 1.
    private(set) var segments: [Range<Int>] = []
    private(set) var parameters: [(name: String, value: Range<Int>)] = []

    init(_ bytes: ArraySlice<UInt8>) {
        let url = RecordedURL(bytes)
        for segment in url.path.split(separator: 0x2F) {
            segments.append(segment.startIndex..<segment.endIndex)
        }
        parameters = Self.parameters(url.query)
    }

    static func parameters(_ query: ArraySlice<UInt8>) -> [(name: String, value: Range<Int>)] {
        Parameter.read(query).map { ($0.name.text, $0.value.startIndex..<$0.value.endIndex) }
    }

    /// Whether a text is a URL, or a path from the root.
    static func isURL(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.first == 0x2F || bytes.starts(with: "http://".utf8)
            || bytes.starts(with: "https://".utf8)
    }
}
