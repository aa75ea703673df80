package reshardctl.interop.dynamodb;

import com.amazonaws.services.dynamodbv2.local.server.LocalDynamoDBRequestHandler;
import com.amazonaws.services.dynamodbv2.local.server.LocalDynamoDBServerHandler;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;

/**
 * DynamoDB Local, in memory, on the loopback address alone.
 *
 * <p>Its own launcher listens on every address and has no option against it, and sends telemetry
 * unless told not to; this one does neither. It prints one line, {@code READY <port>}, and lives
 * until its standard input closes, so it never outlives the process that started it.
 */
public final class Loopback {
    private Loopback() {}

    /** Takes no arguments; the port is whichever is free. */
    public static void main(String[] arguments) throws Exception {
        var requests = new LocalDynamoDBRequestHandler(0, true, null, true, false);
        var server = new Server(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        server.setHandler(new LocalDynamoDBServerHandler(requests, null));
        server.start();
        var port = ((ServerConnector) server.getConnectors()[0]).getLocalPort();
        System.out.println("READY " + port);
        while (System.in.read() >= 0) {
            continue;
        }
        server.stop();
        System.exit(0);
    }
}
