internal import Base
package import HTTPCodecs
internal import HTTPModel

/// What negotiation chose: the bytes that conditions, ranges and digests speak of.
package struct SelectedRepresentation: Sendable {
    package let contentType: String
    /// `nil` for none.
    package let coding: ContentCoding?
    /// In bytes; `nil` while it is coded on the fly.
    package let length: UInt64?
    package let validators: Validators
    /// What of it the response holds; `nil` for all, for several parts, and where bytes have no
    /// places yet.
    package internal(set) var part: Range<UInt64>?
    private let open: Representation.Opening

    /// All of it, from the start.
    package func openWhole() -> any ResponseBodySource { open(0..<(length ?? 0)) }

    /// What the response holds.
    package func openPart() -> any ResponseBodySource { open(part ?? 0..<(length ?? 0)) }
}

extension SelectedRepresentation {
    /// Chooses among a representation's forms; `nil` if the client accepts none: 406.
    ///
    /// - Parameter needsParts: whether only a form will do whose bytes are the same every time, as
    ///   long as there is an acceptable one: parts of others could not be put together.
    init?(of whole: Representation, _ accepted: AcceptEncoding, needsParts: Bool) {
        let ready = Self.preferred.filter { coding in
            whole.coded.contains { $0.coding == coding }
        }
        let made = whole.isCompressed ? Self.preferred : []
        let choice =
            accepted.choice(of: needsParts ? ready : ready + made)
            ?? (needsParts ? accepted.choice(of: made) : nil)
        contentType = whole.contentType
        switch choice {
        case nil: return nil
        case .identity:
            (coding, length) = (nil, whole.length)
            (validators, open) = (whole.validators, whole.open)
        case .coding(let chosen):
            coding = chosen
            if let coded = whole.coded.first(where: { $0.coding == chosen }) {
                (length, validators, open) = (coded.length, coded.validators, coded.open)
            } else {
                length = nil
                validators = whole.validators.coded(chosen)
                open = { _ in EncodingSource(whole.open(0..<whole.length), chosen) }
            }
        }
    }

    /// Where a client takes all alike: what packs best for its time first.
    private static let preferred: [ContentCoding] = [.zstd, .brotli, .gzip, .deflate]
}

extension Validators {
    /// Coded bytes are another representation, so they bear another strong tag.
    fileprivate func coded(_ coding: ContentCoding) -> Validators {
        guard let entityTag else { return self }
        return Validators(
            entityTag: EntityTag(
                "\(entityTag.opaque.text)-\(coding.rawValue)", isWeak: entityTag.isWeak),
            lastModified: lastModified)
    }
}
