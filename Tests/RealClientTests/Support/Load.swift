/// Requests by `wrk` to a proxy that stands in front of an origin, on eight connections.
enum Load {
    /// Starts it.
    ///
    /// - Parameters:
    ///   - path: of each request, with its number behind it.
    ///   - count: how many answers to wait for; `nil` to go on until it is ended.
    static func start(
        on proxy: ProxyProcess, path: String, count: Int? = nil, in folder: Folder
    ) throws -> Program {
        try Program(
            .wrk,
            [
                "--threads", "1", "--connections", "8", "--duration", "120s",
                "--script", Peer.script("requests.lua"), "https://\(proxy.address)", "--", path,
            ] + (count.map { ["\($0)"] } ?? []), in: folder)
    }
}
