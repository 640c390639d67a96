package import Base
package import Sockets

/// What is known of a network namespace whose clients have no way out but this proxy.
package struct CapturedNetwork: Sendable {
    /// The name that an address was handed out for, by the DNS that the clients were given; `nil`
    /// for an address that the client knew by itself.
    package let name: @Sendable (SocketAddress) -> String?
    /// A socket inside, not connected, if a program inside listens at the address; `nil` if none
    /// does, and the address is meant to be reached outside.
    package let insideSocket: @Sendable (SocketAddress) -> Result<Int32?, Failure>
    /// Asks the kernel for connections inside.
    package let diagnosis: SocketDiagnosis
    /// A process inside.
    package let processID: Int32

    package init(
        diagnosis: SocketDiagnosis, processID: Int32,
        name: @escaping @Sendable (SocketAddress) -> String?,
        insideSocket: @escaping @Sendable (SocketAddress) -> Result<Int32?, Failure>
    ) {
        self.diagnosis = diagnosis
        self.processID = processID
        self.name = name
        self.insideSocket = insideSocket
    }
}
