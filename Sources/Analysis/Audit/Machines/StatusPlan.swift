internal import Catalogue

/// What is answered where a certificate says that its revocation can be asked for.
struct StatusPlan: Sendable, Equatable {
    private let path: String
    /// Such as `application/pkix-crl`.
    let mediaType: String
    /// In DER.
    let answer: [UInt8]

    /// Where certificates of the catalogue say so, in cleartext: there is no other way (RFC 5280 §8).
    static let port: UInt16 = 80

    /// - Returns: `nil` for a behaviour that publishes nothing.
    init?(_ behaviour: ProbeBehaviour, answer: [UInt8]) {
        self.answer = answer
        switch behaviour {
        case .publishedList: (path, mediaType) = ("/sallyport.crl", "application/pkix-crl")
        case .publishedAnswer: (path, mediaType) = ("/sallyport.ocsp", "application/ocsp-response")
        default: return nil
        }
    }

    /// Whether a request is for it: an OCSP request may stand in the path (RFC 6960 §A.1).
    func isAsked(by request: HTTPRequestView) -> Bool {
        request.path == path || request.path.hasPrefix(path + "/")
    }
}

extension ProbeBehaviour {
    /// Whether the leaf names an address of ours that says that it is revoked.
    var publishesStatus: Bool { self == .publishedList || self == .publishedAnswer }
}
