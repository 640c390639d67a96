internal import Base
internal import Contents
internal import HTTPCodecs
internal import HTTPModel
package import Proxy
package import Sockets
package import TLS

/// The page that a device is set up from: the certificate in the forms that devices want, the steps
/// for each, and where the proxy is.
///
/// Whoever reaches the proxy may read it, without a password. It holds what is public: the CA's
/// certificate, never its key, nothing of a capture, and no address but the one that the reader came
/// by. Readers on this machine are shown its others, because they are about to reach for a phone.
package struct DevicePage: OwnPage {
    private let certificate: DeviceCertificate
    private let needsPassword: Bool
    private let places: @Sendable (SocketAddress) -> [SocketAddress]

    /// - Parameters:
    ///   - needsPassword: whether clients have to log in at the proxy.
    ///   - places: where other machines reach a listener.
    package init(
        _ certificate: Certificate, needsPassword: Bool,
        places: @escaping @Sendable (SocketAddress) -> [SocketAddress] = \.placesOnNetwork
    ) {
        self.certificate = DeviceCertificate(certificate)
        self.needsPassword = needsPassword
        self.places = places
    }

    package func response(to request: OwnRequest) -> OwnResponse {
        guard request.head.knownMethod == .get || request.head.knownMethod == .head else {
            return .plain(405, "only GET and HEAD are answered\n", ["allow": "GET, HEAD"])
        }
        let path = request.target.prefix { $0 != UInt8(ascii: "?") }
        // Another page may lead a reader here, but neither start a download nor use what is here.
        guard path.elementsEqual("/".utf8) || !request.comesFromElsewhere else {
            return .plain(403, "open http://\(ProxyWiring.ownHost)/ itself\n")
        }
        let view = DeviceView(request, needsPassword: needsPassword, places: places)
        switch path.text {
        case "/": return .page(DevicePageText(certificate, view).markup)
        case "/proxy.pac":
            return .file(view.proxyScript, ProxyScript.mediaType)
        default:
            guard let form = DeviceCertificate.Form(rawValue: String(path.text.dropFirst())) else {
                return .plain(404, "there is no such page\n")
            }
            return .file(
                certificate.content(form), form.mediaType,
                downloadedAs: form.isDownload ? form.rawValue : nil)
        }
    }
}

extension OwnRequest {
    /// Whether a browser says that a page of another origin asks.
    fileprivate var comesFromElsewhere: Bool {
        guard let site = head.fields.first(named: "sec-fetch-site") else { return false }
        return !site.equalsIgnoringCase("none") && !site.equalsIgnoringCase("same-origin")
    }
}

extension OwnResponse {
    static func plain(
        _ status: Int, _ text: String, _ fields: KeyValuePairs<String, String> = [:]
    ) -> OwnResponse {
        OwnResponse(status, "text/plain; charset=utf-8", fields, [UInt8](text.utf8))
    }

    fileprivate static func page(_ markup: [UInt8]) -> OwnResponse {
        OwnResponse(200, "text/html; charset=utf-8", [:], markup)
    }

    fileprivate static func file(
        _ content: [UInt8], _ mediaType: String, downloadedAs name: String? = nil
    ) -> OwnResponse {
        guard let name else { return OwnResponse(200, mediaType, [:], content) }
        return OwnResponse(
            200, mediaType, ["content-disposition": "attachment; filename=\"\(name)\""], content)
    }

    private init(
        _ status: Int, _ mediaType: String, _ more: KeyValuePairs<String, String>,
        _ content: [UInt8]
    ) {
        let fields = [Field("content-type", mediaType)] + more.map(Field.init) + Self.safety
        self.init(status, fields, content)
    }

    /// No script runs, nothing is loaded from anywhere, and nobody puts the page into theirs.
    private static let safety = [
        Field(
            "content-security-policy",
            "default-src 'none'; img-src data:; style-src '\(DeviceStyle.hash)'; base-uri 'none';"
                + " form-action 'none'; frame-ancestors 'none'"),
        Field("x-content-type-options", "nosniff"),
        Field("x-frame-options", "DENY"),
        Field("cross-origin-resource-policy", "same-origin"),
        Field("referrer-policy", "no-referrer"),
        Field("cache-control", "no-store"),
    ]
}
