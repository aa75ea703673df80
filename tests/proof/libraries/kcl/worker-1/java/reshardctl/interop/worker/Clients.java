package reshardctl.interop.worker;

import com.amazonaws.auth.AWSCredentialsProvider;
import com.amazonaws.auth.AWSStaticCredentialsProvider;
import com.amazonaws.auth.BasicAWSCredentials;
import com.amazonaws.client.builder.AwsClientBuilder;
import com.amazonaws.client.builder.AwsClientBuilder.EndpointConfiguration;
import com.amazonaws.services.cloudwatch.AmazonCloudWatch;
import com.amazonaws.services.cloudwatch.AmazonCloudWatchClientBuilder;
import com.amazonaws.services.dynamodbv2.AmazonDynamoDB;
import com.amazonaws.services.dynamodbv2.AmazonDynamoDBClientBuilder;
import com.amazonaws.services.kinesis.AmazonKinesis;
import com.amazonaws.services.kinesis.AmazonKinesisClientBuilder;
import reshardctl.interop.Request;

/** The three clients that the library wants, each at an address on this machine. */
record Clients(AmazonKinesis kinesis, AmazonDynamoDB dynamodb, AmazonCloudWatch cloudwatch)
        implements AutoCloseable {
    static final AWSCredentialsProvider CREDENTIALS =
            new AWSStaticCredentialsProvider(new BasicAWSCredentials("testing", "testing"));

    static Clients of(Request request) {
        var dynamodb = request.text("dynamodb");
        return new Clients(
                at(request.text("kinesis"), AmazonKinesisClientBuilder.standard()),
                at(dynamodb, AmazonDynamoDBClientBuilder.standard()),
                // Never called: metrics are off. It points at nothing that could answer.
                at(dynamodb, AmazonCloudWatchClientBuilder.standard()));
    }

    private static <B extends AwsClientBuilder<B, C>, C> C at(
            String address, AwsClientBuilder<B, C> builder) {
        return builder.withCredentials(CREDENTIALS)
                .withEndpointConfiguration(new EndpointConfiguration(address, "us-east-1"))
                .build();
    }

    @Override
    public void close() {
        kinesis.shutdown();
        dynamodb.shutdown();
        cloudwatch.shutdown();
    }
}
