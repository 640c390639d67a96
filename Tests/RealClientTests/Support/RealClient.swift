import Foundation

/// A client that is not ours, behind one command line for all: `Clients/` has the programs.
struct RealClient: Sendable {
    let peer: Peer
    /// What comes before the arguments that all clients take.
    let arguments: [String]

    static let curl = RealClient(peer: .bash, arguments: [Peer.script("curl.sh")])
    static let wget = RealClient(peer: .bash, arguments: [Peer.script("wget.sh")])
    static let urllib = RealClient(peer: .python, arguments: [Peer.script("with-urllib.py")])
    static let requests = RealClient(peer: .python, arguments: [Peer.script("with-requests.py")])
    static let node = RealClient(peer: .node, arguments: [Peer.script("agent.cjs")])
    static let java = RealClient(
        // The compiler in one thread and without an archive is what starts soonest.
        peer: .java, arguments: ["-XX:TieredStopAtLevel=1", Peer.script("Transfer.java")])

    /// Starts it.
    ///
    /// - Parameters:
    ///   - authority: the file of the CA that it trusts.
    ///   - folder: where it puts what it fetches.
    ///   - upload: the file that it puts at the end, if any.
    func start(
        at origin: String, by proxy: String, trusting authority: String, into folder: Folder,
        upload: String? = nil, names: [String]
    ) throws -> Program {
        let fetched = try folder.folder("fetched")
        return try Program(
            peer, arguments + [origin, proxy, authority, fetched, upload ?? ""] + names, in: folder)
    }
}
