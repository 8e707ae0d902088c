import CCurl
import Glibc

extension Exchange {
    /// Registers the exchange and its callbacks with libcurl.
    func setCallbacks(refusesPrivateNetworks: Bool) {
        let context = Unmanaged.passUnretained(self).toOpaque()
        eidetic_curl_set_pointer(easy, CURLOPT_PRIVATE, context)
        eidetic_curl_set_receivers(easy, receiveBody, receiveHeadLine, context)
        if refusesPrivateNetworks { eidetic_curl_set_socket_opener(easy, openPublicSocket, context) }
    }
}

/// The return value with which a callback aborts an exchange: any count other than the number of bytes passed to it.
private let abortingCount = 0

/// libcurl's `CURLOPT_WRITEFUNCTION`.
private func receiveBody(
    _ bytes: UnsafeMutablePointer<CChar>?,
    _ size: Int,
    _ count: Int,
    _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let context, let bytes else { return size * count }
    let exchange = Unmanaged<Exchange>.fromOpaque(context).takeUnretainedValue()
    switch exchange.receive(body: UnsafeRawBufferPointer(start: bytes, count: size * count)) {
    case .accepted: return size * count
    case .refused: return abortingCount
    case .paused: return Int(CURL_WRITEFUNC_PAUSE)
    }
}

/// libcurl's `CURLOPT_HEADERFUNCTION`.
private func receiveHeadLine(
    _ bytes: UnsafeMutablePointer<CChar>?,
    _ size: Int,
    _ count: Int,
    _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let context, let bytes else { return size * count }
    let exchange = Unmanaged<Exchange>.fromOpaque(context).takeUnretainedValue()
    let isAccepted = exchange.receive(head: UnsafeRawBufferPointer(start: bytes, count: size * count))
    return isAccepted ? size * count : abortingCount
}

/// libcurl's `CURLOPT_OPENSOCKETFUNCTION`: opens a socket to a public address only.
///
/// The address is that of the connection itself, so a later name lookup cannot replace it.
private func openPublicSocket(
    _ context: UnsafeMutableRawPointer?,
    _ purpose: curlsocktype,
    _ address: UnsafeMutablePointer<curl_sockaddr>?
) -> curl_socket_t {
    guard let context, let address else { return CURL_SOCKET_BAD }
    let exchange = Unmanaged<Exchange>.fromOpaque(context).takeUnretainedValue()
    guard let networkAddress = NetworkAddress(&address.pointee.addr), networkAddress.isPublic else {
        exchange.refuseAddress(&address.pointee.addr)
        return CURL_SOCKET_BAD
    }
    let type = address.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue)
    return socket(address.pointee.family, type, address.pointee.protocol)
}
