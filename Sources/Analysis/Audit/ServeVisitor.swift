internal import Proxy
internal import Sockets
internal import Traffic

/// Who came to a port of a probe, in falling order of certainty: a program with its arguments, or an
/// address.
struct ServeVisitor: Hashable, Sendable {
    /// The file name of the program; `nil` where it is not known.
    let program: String?
    /// What tells visitors with one program apart: its arguments, with what names the probe's port
    /// left out, or the address.
    let marks: [String]

    /// A long argument is told apart by its beginning.
    private static let markLimit = 256

    /// - Parameter ports: those of all probes; a client that is started once for each of them names
    ///   another one each time.
    init(_ visit: ProbeVisit, ports: Set<UInt16>) {
        guard let process = visit.process, !process.executable.isEmpty else {
            program = nil
            marks = visit.peer.isLoopback ? [] : [visit.peer.host]
            return
        }
        let path = process.executable
        program = path.split(separator: "/").last.map(String.init) ?? path
        marks = process.commandLine.dropFirst().compactMap {
            Self.namesPort(in: $0, of: ports) ? nil : String($0.prefix(Self.markLimit))
        }
    }

    /// Those whom no memory is left for are one visitor.
    static let others = ServeVisitor(program: nil, marks: [])

    private init(program: String?, marks: [String]) {
        self.program = program
        self.marks = marks
    }

    private static func namesPort(in word: String, of ports: Set<UInt16>) -> Bool {
        word.utf8.split { !(0x30...0x39).contains($0) }.contains { digits in
            UInt16(Substring(digits)).map(ports.contains) ?? false
        }
    }

    /// Names visitors that have one program.
    static func names(of visitors: [ServeVisitor]) -> [String] {
        let common = visitors.dropFirst().reduce(into: Set(visitors.first?.marks ?? [])) {
            $0.formIntersection($1.marks)
        }
        var taken: [String: Int] = [:]
        return visitors.map { visitor in
            let own = visitor.marks.filter { !common.contains($0) }.joined(separator: " ")
            let name = (visitor.program ?? "client") + (own.isEmpty ? "" : " ")
            let whole = name + own.prefix(nameLimit)
            taken[whole, default: 0] += 1
            return taken[whole] == 1 ? whole : "\(whole) #\(taken[whole] ?? 1)"
        }
    }

    /// Of the marks in a name, in characters.
    private static let nameLimit = 60
}
