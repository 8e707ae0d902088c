extension EideticError {
    /// A Boolean value indicating whether the transport failed: no response arrived, or only a part of one.
    package var isTransportFailure: Bool { isTransient && code != .httpStatus }

    /// A Boolean value indicating whether the failure passes in the network or at the server, so that another attempt
    /// may succeed.
    package var isTransient: Bool {
        switch code {
        case .hostNotFound, .connectionRefused, .connectionLost, .timedOut, .lengthMismatch: true
        case .httpStatus: httpStatus.map { $0 >= 500 || [408, 425, 429].contains($0) } ?? false
        default: false
        }
    }
}
