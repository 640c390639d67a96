package import HTTPCodecs

/// A content that was recorded, without its codings, as far as they can be undone.
///
/// What is too long to be held goes through a `ContentDecoder` with the same codings.
package struct DecodedContent: Sendable {
    package enum State: Sendable {
        /// All that was meant.
        case whole
        /// The start of it: more would come of it than is wanted, or its coding ends too early.
        case cut
        /// Its coding is not known, or it is not in it; the bytes are as they were recorded.
        case undecodable
    }

    package let bytes: [UInt8]
    package let state: State

    /// - Parameters:
    ///   - codings: `nil` if the head names one that is not known.
    ///   - byteLimit: of what comes out.
    package init(_ content: [UInt8], _ codings: [ContentCoding]?, byteLimit: Int) {
        guard codings?.isEmpty != true, !content.isEmpty else {
            let isCut = content.count > byteLimit
            bytes = isCut ? Array(content.prefix(byteLimit)) : content
            state = isCut ? .cut : .whole
            return
        }
        guard let codings else {
            (bytes, state) = (content, .undecodable)
            return
        }
        let (plain, outcome) = ContentDecoder.decode(content, codings, outputLimit: byteLimit)
        switch outcome {
        case .complete: (bytes, state) = (plain, .whole)
        case .corrupt where plain.isEmpty: (bytes, state) = (content, .undecodable)
        case .corrupt, .truncated, .limited: (bytes, state) = (plain, .cut)
        }
    }
}

extension RecordedHead {
    /// The codings of the content, in the order in which they were applied; `nil` if one is not
    /// known, or there are too many.
    package var contentCodings: [ContentCoding]? {
        ContentCoding.codings(named: values(named: "content-encoding"))
    }
}
