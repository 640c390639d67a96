/// How an export of ours names itself in a file, so that an import takes each connection once.
struct PacketOrigin {
    let isRedacted: Bool

    init(isRedacted: Bool) {
        self.isRedacted = isRedacted
    }

    /// - Parameter application: as the file has it; `nil` is returned for other programs.
    init?(application: String) {
        guard application.hasPrefix(Self.start) else { return nil }
        isRedacted = application.hasSuffix(Self.end)
    }

    func name(_ version: String) -> String {
        Self.start + version + (isRedacted ? Self.end : "")
    }

    /// Whether an interface shows what others do not.
    func shows(_ interface: String) -> Bool {
        interface == (isRedacted ? "decrypted" : "client-leg")
    }

    private static let start = "sallyport "
    private static let end = " (redacted)"
}
