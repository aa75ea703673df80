package reshardctl.interop.worker;

import java.net.URI;
import reshardctl.interop.Request;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.awscore.client.builder.AwsClientBuilder;
import software.amazon.awssdk.http.Protocol;
import software.amazon.awssdk.http.nio.netty.NettyNioAsyncHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.cloudwatch.CloudWatchAsyncClient;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.kinesis.KinesisAsyncClient;

/** The three clients that the library wants, each at an address on this machine. */
record Clients(
        KinesisAsyncClient kinesis, DynamoDbAsyncClient dynamodb, CloudWatchAsyncClient cloudwatch)
        implements AutoCloseable {

    static Clients of(Request request) {
        var kinesis = URI.create(request.text("kinesis"));
        var dynamodb = URI.create(request.text("dynamodb"));
        return new Clients(
                // HTTP/2 without TLS is more than a small server offers.
                at(kinesis, KinesisAsyncClient.builder().httpClientBuilder(
                        NettyNioAsyncHttpClient.builder().protocol(Protocol.HTTP1_1))).build(),
                at(dynamodb, DynamoDbAsyncClient.builder()).build(),
                // Never called: metrics are off. It points at nothing that could answer.
                at(dynamodb, CloudWatchAsyncClient.builder()).build());
    }

    private static <B extends AwsClientBuilder<B, ?>> B at(URI address, B builder) {
        var credentials = AwsBasicCredentials.create("testing", "testing");
        return builder.region(Region.US_EAST_1)
                .credentialsProvider(StaticCredentialsProvider.create(credentials))
                .endpointOverride(address);
    }

    @Override
    public void close() {
        kinesis.close();
        dynamodb.close();
        cloudwatch.close();
    }
}
