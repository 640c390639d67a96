import Audit
import Dispatch
import Foundation
import Glibc
import Proxy
import Synchronization

/// A port at which machines of probes are played against whoever connects, each on a thread.
final class ProbeServer: Sendable {
    typealias Making = @Sendable (_ number: Int) throws -> any AuditMachine

    let port: UInt16
    private let descriptor: Int32
    private let state = Mutex(State())
    private let ended = DispatchSemaphore(value: 0)

    private struct State {
        var machines: [any AuditMachine] = []
        var finished = 0
        var troubles: [String] = []
        var isListening = true
    }

    init(_ making: @escaping Making) throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        self.descriptor = descriptor
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, length) | listen(descriptor, 64)
                    | getsockname(descriptor, $0, &length)
            }
        }
        guard status == 0 else { throw TestTrouble("cannot listen") }
        port = UInt16(bigEndian: address.sin_port)
        Thread { self.accept(making) }.start()
    }

    /// Ends the accepting thread, which closes the port.
    func stop() {
        // A number that was closed may be another test's connection by now.
        state.withLock { [descriptor] state in
            if state.isListening { shutdown(descriptor, Int32(SHUT_RDWR)) }
        }
    }

    /// What the first `count` connections came to, once they have ended.
    func observations(_ count: Int = 1) throws -> [ProbeObservation] {
        let deadline = DispatchTime.now() + .seconds(100)
        while state.withLock({ $0.finished < count }) {
            guard ended.wait(timeout: deadline) == .success else {
                throw TestTrouble("no connection ended: \(state.withLock { $0.troubles })")
            }
        }
        return state.withLock { $0.machines.map(\.observation) }
    }

    var machines: [any AuditMachine] { state.withLock { $0.machines } }

    private func accept(_ making: @escaping Making) {
        var number = 0
        while true {
            let accepted = Glibc.accept(descriptor, nil, nil)
            guard accepted >= 0 else {
                if errno == EINTR { continue }
                state.withLock { [descriptor] state in
                    state.isListening = false
                    close(descriptor)
                }
                return
            }
            do {
                let machine = try making(number)
                state.withLock { $0.machines.append(machine) }
                Thread {
                    Self.play(machine, on: accepted)
                    self.state.withLock { $0.finished += 1 }
                    self.ended.signal()
                }.start()
            } catch {
                state.withLock { $0.troubles.append("\(error)") }
                close(accepted)
            }
            number += 1
        }
    }

    private static func play(_ machine: any AuditMachine, on descriptor: Int32) {
        defer { close(descriptor) }
        var space = [UInt8](repeating: 0, count: 1 << 14)
        var canSend = true
        while true {
            let outgoing = machine.takeOutgoing()
            // What the client has said before it left still waits to be read, an alert above all.
            canSend = canSend && send(outgoing, on: descriptor)
            if machine.isOver {
                shutdown(descriptor, Int32(SHUT_WR))
                return machine.noteEnd(canSend ? .ours : .reset)
            }
            var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let ready = unsafe poll(&wait, 1, Int32(machine.patience))
            if ready == 0 {
                machine.noteSilence()
                continue
            }
            let count = unsafe recv(descriptor, &space, space.count, 0)
            if count == 0 { return machine.noteEnd(.closed) }
            if count < 0 { return machine.noteEnd(.reset) }
            machine.receive(Array(space[..<count]).span)
        }
    }

    private static func send(_ bytes: [UInt8], on descriptor: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let part = Array(rest)
            let count = unsafe Glibc.send(
                descriptor, part, part.count, Int32(MSG_NOSIGNAL))
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
