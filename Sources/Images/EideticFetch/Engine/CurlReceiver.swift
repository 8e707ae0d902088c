import CCurl
import Glibc

/// An exchange that libcurl calls.
protocol CurlReceiver: AnyObject {
    func receive(body chunk: UnsafeRawBufferPointer) -> ReceiveResult

    /// Receives lines of the head; returns `false` to end the exchange.
    func receive(head lines: UnsafeRawBufferPointer) -> Bool

    /// Ends the exchange because an address is not public.
    func refuseAddress(_ address: UnsafePointer<sockaddr>)
}

/// The result of receiving a chunk of the body.
enum ReceiveResult { case accepted, refused, paused }

extension EasyHandle {
    /// Registers an exchange, which must own the handle, and its callbacks with libcurl.
    func setReceiver(_ receiver: any CurlReceiver, refusesPrivateNetworks: Bool) {
        self.receiver = receiver
        let context = Unmanaged.passUnretained(self).toOpaque()
        eidetic_curl_set_pointer(pointer, CURLOPT_PRIVATE, Unmanaged.passUnretained(receiver as AnyObject).toOpaque())
        eidetic_curl_set_writer(pointer, CURLOPT_WRITEFUNCTION) { bytes, size, count, handle in
            guard let receiver = registeredReceiver(of: handle), let bytes else { return abortingCount }
            switch receiver.receive(body: UnsafeRawBufferPointer(start: bytes, count: size * count)) {
            case .accepted: return size * count
            case .refused: return abortingCount
            case .paused: return Int(CURL_WRITEFUNC_PAUSE)
            }
        }
        eidetic_curl_set_writer(pointer, CURLOPT_HEADERFUNCTION) { bytes, size, count, handle in
            guard let receiver = registeredReceiver(of: handle), let bytes else { return abortingCount }
            let isAccepted = receiver.receive(head: UnsafeRawBufferPointer(start: bytes, count: size * count))
            return isAccepted ? size * count : abortingCount
        }
        if refusesPrivateNetworks { eidetic_curl_set_opener(pointer, CURLOPT_OPENSOCKETFUNCTION, openPublicSocket) }
        for option in [CURLOPT_WRITEDATA, CURLOPT_HEADERDATA, CURLOPT_OPENSOCKETDATA] {
            eidetic_curl_set_pointer(pointer, option, context)
        }
    }
}

/// The return value with which a callback aborts an exchange: any count other than the number of bytes passed to it.
private let abortingCount = 0

private func registeredReceiver(of handle: UnsafeMutableRawPointer?) -> (any CurlReceiver)? {
    handle.flatMap { Unmanaged<EasyHandle>.fromOpaque($0).takeUnretainedValue().receiver }
}

/// libcurl's `CURLOPT_OPENSOCKETFUNCTION`: opens a socket to a public address only.
///
/// The address is that of the connection itself, so a later name lookup cannot replace it.
private func openPublicSocket(
    _ handle: UnsafeMutableRawPointer?,
    _ purpose: curlsocktype,
    _ address: UnsafeMutablePointer<curl_sockaddr>?
) -> curl_socket_t {
    guard let receiver = registeredReceiver(of: handle), let address else { return CURL_SOCKET_BAD }
    guard let networkAddress = NetworkAddress(&address.pointee.addr), networkAddress.isPublic else {
        receiver.refuseAddress(&address.pointee.addr)
        return CURL_SOCKET_BAD
    }
    let type = address.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue)
    return socket(address.pointee.family, type, address.pointee.protocol)
}
